#!/bin/sh
# headers_alone.sh ROOT - every header compiles as the only line of a file
#
# C17 for all of them; wick.h and wick.hpp also as C99, C11 and C++, pedantically, because we do
# not choose our users' compilers, and for a target where they do nothing.  CC and CXX name the
# compilers.
set -eu
root=${1:?usage: headers_alone.sh ROOT}
cc=${CC:-cc}
cxx=${CXX:-c++}
cd "$root"
present=
for folder in base sampler symbolize output flamescope tools; do
	[ ! -d "$folder" ] || present="$present $folder"
done
[ -n "$present" ] || { echo "headers_alone: no folder exists under '$root'"; exit 2; }
command -v "$cc" >/dev/null || { echo "headers_alone: no compiler '$cc'"; exit 2; }

# alone LANGUAGE HEADER FLAGS... - compiles a file that holds nothing but the include
alone() {
	language=$1
	header=$2
	shift 2
	echo "#include \"$header\"" | "$@" -Wall -Wextra -Werror -fsyntax-only -I . -x "$language" -
}

# shellcheck disable=SC2086 # the folders are words
headers=$(find $present -type f -name '*.h' | sort)
[ -n "$headers" ] || { echo "headers_alone: no headers under '$root'"; exit 2; }
bad=0
for header in $headers; do
	alone c "$header" "$cc" -std=gnu17 -D_GNU_SOURCE || bad=1
done

# public HEADER LANGUAGE COMPILER STANDARDS - as programs compile it
public() {
	[ -e "$1" ] || return 0
	command -v "$3" >/dev/null || { echo "headers_alone: no compiler '$3'"; exit 2; }
	for standard in $4; do
		alone "$2" "$1" "$3" "-std=$standard" -pedantic || bad=1
		alone "$2" "$1" "$3" "-std=$standard" -pedantic -U__ELF__ || bad=1
	done
}

public sampler/include/wick.h c "$cc" "c99 c11"
public sampler/include/wick.h c++ "$cxx" "c++11 c++17"
public sampler/include/wick_otel.h c "$cc" "gnu99 gnu11"
public sampler/include/wick.hpp c++ "$cxx" "c++11 c++20"
exit $bad
