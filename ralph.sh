#!/bin/sh
# Runs `ouro step` again and again, until the lineage ends. Every cycle is a fresh process; all
# that this script knows of it is its exit code.
set -u

usage() {
    cat <<'END'
Usage: ralph.sh [--max-cycles N] [OPTIONS OF ouro step] [-- MORE FOR ouro step]

Runs `ouro step` until the lineage ends; the same command goes on after any stop.

  --lineage-id ID   which lineage to evolve
  --seed-file F     the spec, for a lineage that does not exist yet
  --project-dir D   the repository to work in (default: the current folder)
  --max-cycles N    end after N cycles (default: 30); also -n N, --max-iterations N
  -h, --help        this text

Everything but the last two goes to `ouro step` as it stands (see `ouro step --help`).
OURO=PATH in the environment names the ouro to run. The step of the last cycle that is allowed
finds OURO_LAST_CYCLE=1 there, and runs the command on_end of ouro.yaml whatever it decides.

Example:
  ralph.sh --lineage-id my_lineage --seed-file seed.yaml --max-cycles 50

Exit codes:
  0   converged                        12  failed, needs a person
  1   ouro's own error                 14  N cycles done, not finished
  2   wrong usage                      15  stopped on request
  10  stagnated, no retries left       129, 130, 143  ended by HUP, INT, TERM
  11  exhausted (generations, cost or time)
END
}

say() { printf 'ralph.sh: %s\n' "$*" >&2; }

refuse() {
    say "$1; see ralph.sh --help"
    exit 2
}

# Takes the loop's own options out of "$@". The others go round it once and so keep their order.
max=30
left=$#
while [ "$left" -gt 0 ]; do
    option=$1
    shift
    left=$((left - 1))
    case $option in
    -n | --max-cycles | --max-iterations)
        [ "$left" -gt 0 ] || refuse "$option needs a number"
        max=$1
        shift
        left=$((left - 1))
        ;;
    --max-cycles=* | --max-iterations=*) max=${option#*=} ;;
    -n?*) max=${option#-n} ;;
    -h | --help) usage && exit 0 ;;
    *) set -- "$@" "$option" ;;
    esac
    [ "$option" != -- ] || break
done
while [ "$left" -gt 0 ]; do # what follows a `--` is not ours to read
    set -- "$@" "$1"
    shift
    left=$((left - 1))
done
case $max in *[!0-9]*) false ;; *) [ "$max" -ge 1 ] ;; esac 2>/dev/null ||
    refuse "--max-cycles needs a whole number from 1 up, not '$max'"

ouro=${OURO:-$(dirname "$0")/.venv/bin/ouro}
[ -n "${OURO:-}" ] || [ -x "$ouro" ] || ouro=ouro
if ! command -v "$ouro" >/dev/null; then
    say "cannot find $ouro; install it, or set OURO to the path of the program"
    exit 1
fi

# `ouro stop` finds the loop by it, also between two steps.
OURO_LOOP=$$
export OURO_LOOP

# A signal ends what runs now, and then the loop. INT goes on as TERM: sh starts a background
# child with INT ignored, and one that came before the step had its own handler would be lost.
ended=
child=
# shellcheck disable=SC2329 # the traps call it
end() {
    ended=$1
    [ -z "$child" ] || kill -TERM "$child" 2>/dev/null
}
trap 'end 129' HUP
trap 'end 130' INT
trap 'end 143' TERM

# Runs a command so that a signal is heard at once, and leaves its exit code in $status.
run() {
    [ -z "$ended" ] || exit "$ended"
    "$@" </dev/null &
    child=$!
    [ -z "$ended" ] || kill -TERM "$child" 2>/dev/null # it came before the child had a number
    wait "$child"
    status=$?
    # `wait` returns early on a signal; the child still has its work to save.
    while [ -n "$ended" ] && kill -0 "$child"; do wait "$child"; done 2>/dev/null
    child=
    [ -z "$ended" ] || exit "$ended"
}

unset OURO_LAST_CYCLE
cycle=0
while [ "$cycle" -lt "$max" ]; do
    cycle=$((cycle + 1))
    say "cycle $cycle of at most $max"
    [ "$cycle" -lt "$max" ] || export OURO_LAST_CYCLE=1
    run "$ouro" step --wait --exit-code "$@"
    pause=1
    while [ "$status" -eq 75 ]; do
        say "not now; trying again in $pause s"
        run sleep "$pause"
        pause=$((pause < 5 ? pause * 2 : 10))
        run "$ouro" step --wait --exit-code "$@"
    done
    case $status in
    3 | 4) ;;
    126 | 127) say "cannot run $ouro" && exit 1 ;;
    129 | 130 | 143) exit "$status" ;;
    *)
        [ "$status" -gt 128 ] || exit "$status"
        say "the step was killed (signal $((status - 128))); run the same command again to go on"
        exit 1
        ;;
    esac
done
say "$max cycles done, not finished; run the same command again to go on"
exit 14
