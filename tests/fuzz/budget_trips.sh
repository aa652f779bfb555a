#!/bin/sh
# budget_trips.sh TARGET - the budget passes what is cheap and ends what is not, and says why
set -eu
target=${1:?usage: budget_trips.sh TARGET}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# runs INPUT - whether the target takes it; what it says is in $work/said
runs() {
	printf %s "$1" >"$work/input"
	"$target" -artifact_prefix="$work/" "$work/input" >"$work/said" 2>&1
}

# trips INPUT WORDS - it has to be ended with WORDS
trips() {
	! runs "$1" || { echo "budget_trips: '$1' passes"; exit 1; }
	grep -q "budget: [0-9]* $2" "$work/said" || { cat "$work/said"; exit 1; }
}

runs cheap || { cat "$work/said"; exit 1; }
trips cpu "ms of CPU"
trips memory "bytes held"
