#!/bin/sh
# run.sh TARGET SHARE CORPUS SEEDS [OPTION...] - a fuzz target for its share of WICK_FUZZ_SECONDS
#
# The seconds are for all SHARE targets together (60 unless told); what is found goes to CORPUS,
# and an input that fails is kept beside it.
set -eu
target=${1:?usage: run.sh TARGET SHARE CORPUS SEEDS [OPTION...]}
corpus=${3:?usage: run.sh TARGET SHARE CORPUS SEEDS [OPTION...]}
seeds=${4:?usage: run.sh TARGET SHARE CORPUS SEEDS [OPTION...]}
seconds=$((${WICK_FUZZ_SECONDS:-60} / $2))
[ "$seconds" -ge 1 ] || { echo "run.sh: WICK_FUZZ_SECONDS must be $2 or more"; exit 2; }
[ -n "$(ls -A "$seeds")" ] || { echo "run.sh: no seed in '$seeds'"; exit 2; }
shift 4
mkdir -p "$corpus"
exec "$target" -max_total_time="$seconds" -max_len=16384 -print_final_stats=1 \
	-artifact_prefix="$corpus-" "$@" "$corpus" "$seeds"
