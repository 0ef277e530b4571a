#!/bin/sh
# An agent that answers at once; what it writes differs from generation to generation.
case $OURO_PHASE in
wonder) printf '{"questions":[{"question":"What of %s?","criteria":["ac1"],"subject":"s%s"}],"tensions":[]}' "$OURO_GENERATION" "$OURO_GENERATION" ;;
reflect) printf '{"ontology_mutations":[],"learnings":["l%s"],"reasoning":"none"}' "$OURO_GENERATION" ;;
execute) echo "$OURO_GENERATION" >changed && echo "wrote changed in generation $OURO_GENERATION" ;;
evaluate) echo '{"criteria":[{"id":"ac1","passed":false,"score":0.1,"evidence":"not yet"}]}' ;;
qa) echo '{"score":50,"differences":["much"],"suggestions":[]}' ;;
esac
