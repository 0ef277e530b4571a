#!/bin/sh
# What one generation costs git alone: the same commits, staging, refs and syncs as `ouro step`
# makes, by plumbing and nothing else. Reads nothing back, checks nothing, knows no agent.
#
#   floor.sh WORKTREE BRANCH GENERATION    in a linked worktree with BRANCH checked out
set -eu
cd "$1"
branch=$2
generation=$3
log=.ouro/lineages/floor/events/000001.jsonl
tip=$(git rev-parse HEAD)

git() { command git -c core.fsync=all -c core.fsyncMethod=batch -c gc.auto=0 "$@"; }

# One event: a line of about 1 KiB, a tree, a commit, the branch, the index and the files.
event() {
    mkdir -p "${log%/*}"
    { cat "$log" 2>/dev/null || :; printf '{"type":"%s","data":"%01000d"}\n' "$1" "$generation"; } >.ouro/new
    mv .ouro/new "$log"
    blob=$(git hash-object -w "$log")
    git update-index --add --cacheinfo "100644,$blob,$log"
    tree=$(git write-tree)
    new=$(git commit-tree "$tree" -p "$tip" -m "gen $generation: $1")
}

move() { printf 'start\nupdate %s %s %s\nprepare\ncommit\n' "$branch" "$new" "$tip" | git update-ref --stdin && tip=$new; }

event wonder && move
event reflect && move
echo "$generation" >"changed"
git add -A
event execute && move
event evaluate && move
event 'qa; completed'
tag=$(printf 'object %s\ntype commit\ntag gen_%s\ntagger A <a@b> 0 +0000\n\nx\n' "$new" "$generation" | git mktag)
printf 'start\nupdate %s %s %s\ncreate refs/tags/floor/gen_%s %s\nprepare\ncommit\n' \
    "$branch" "$new" "$tip" "$generation" "$tag" | git update-ref --stdin
