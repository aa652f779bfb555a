#!/bin/sh
# cppcheck.sh ROOT - cppcheck over every C file; a suppression is a line in the source with a reason
set -eu
root=${1:?usage: cppcheck.sh ROOT}
cd "$root"
present=
for folder in base sampler symbolize output flamescope tools tests; do
	[ ! -d "$folder" ] || present="$present $folder"
done
[ -n "$present" ] || { echo "cppcheck: no folder exists under '$root'"; exit 2; }
# shellcheck disable=SC2086 # the folders are words
cppcheck --quiet --std=c11 -j 2 -I . -D_GNU_SOURCE -D__x86_64__ -D__linux__ -D__GNUC__=12 -DDLFO_STRUCT_HAS_EH_DBASE=1 \
	--enable=warning,performance,portability --inline-suppr --suppress=missingInclude \
	--suppress=unmatchedSuppression --error-exitcode=1 $present
