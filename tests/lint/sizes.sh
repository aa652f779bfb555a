#!/bin/sh
# sizes.sh ROOT - no source file has more than 600 lines (functions are clang-tidy's to measure)
#
# Programs copy wick.h: it is one file, and may have four times as many.
set -eu
root=${1:?usage: sizes.sh ROOT}
cd "$root"
limit=600
folders="base sampler symbolize output flamescope tools tests"
present=
for folder in $folders; do
	[ ! -d "$folder" ] || present="$present $folder"
done
[ -n "$present" ] || { echo "sizes: no folder exists under '$root'"; exit 2; }

# shellcheck disable=SC2086 # the folders are words
find $present -type d \( -name vendor -o -name golden \) -prune -o -type f \( -name '*.[chS]' -o \
	-name '*.cc' -o -name '*.sh' -o -name '*.py' -o -name '*.js' -o -name '*.css' -o \
	-name '*.cmake' -o -name CMakeLists.txt \) -exec awk -v limit="$limit" '
	function told() {
		most = name == "sampler/include/wick.h" ? 4 * limit : limit
		if (last > most) {
			print name ": " last " lines; split it, the limit is " most
			bad = 1
		}
	}
	FNR == 1 { told(); n_files++ }
	{ name = FILENAME; last = FNR }
	END { told(); if (!n_files) exit 2; exit bad }' {} +
