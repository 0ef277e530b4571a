#!/bin/sh
# The whole contract of an agent: a prompt on stdin, a reply on stdout, edits in this folder.
prompt=$(cat)
case $OURO_PHASE in
wonder)   echo '{"questions": [], "tensions": []}' ;;
reflect)  echo '{"ontology_mutations": [], "criteria": [], "learnings": [], "reasoning": ""}' ;;
execute)  printf 'hello\n' >hello.txt && echo "Wrote hello.txt (prompt: ${#prompt} characters)." ;;
evaluate) [ "$(cat hello.txt)" = hello ] && echo '{"criteria": [{"id": "ac1", "passed": true, "score": 1, "evidence": "hello.txt line 1: hello"}]}' ;;
qa)       echo '{"score": 90, "differences": [], "suggestions": []}' ;;
esac
