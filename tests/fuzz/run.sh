#!/bin/sh
# run.sh TARGET SHARE CORPUS SEEDS [OPTION...] - a fuzz target for its share of WICK_FUZZ_SECONDS
#
# First every seed and every large input of make_seeds.py is run once, whole; then it is fuzzed from
# the small ones, with inputs that grow up to 1 MB.  The seconds are for the fuzzing of all SHARE
# targets together (60 unless told); what is found goes to CORPUS, and an input that fails is kept
# beside it.
set -eu
target=${1:?usage: run.sh TARGET SHARE CORPUS SEEDS [OPTION...]}
corpus=${3:?usage: run.sh TARGET SHARE CORPUS SEEDS [OPTION...]}
seeds=${4:?usage: run.sh TARGET SHARE CORPUS SEEDS [OPTION...]}
seconds=$((${WICK_FUZZ_SECONDS:-60} / $2))
[ "$seconds" -ge 1 ] || { echo "run.sh: WICK_FUZZ_SECONDS must be $2 or more"; exit 2; }
[ -n "$(ls -A "$seeds")" ] || { echo "run.sh: no seed in '$seeds'"; exit 2; }
shift 4
name=${seeds##*/}
here=$(dirname "$0")
mkdir -p "$corpus"
rm -rf "$corpus-large"
"$here/make_seeds.py" "$name" "$seeds" "$corpus-large"
# CPU time has its budget in the target; the timeout is for what never ends.
find "$seeds" "$corpus-large" -type f -exec "$target" -timeout=60 -artifact_prefix="$corpus-" {} + ||
	{ echo "run.sh: a seed failed: it is in $corpus-*"; exit 1; }
rm -r "$corpus-large"
[ ! -f "$here/dict/$name" ] || set -- "-dict=$here/dict/$name" "$@"
exec "$target" -max_total_time="$seconds" -max_len=1048576 -len_control=100 -timeout=60 \
	-print_final_stats=1 -artifact_prefix="$corpus-" "$@" "$corpus" "$seeds"
