#!/bin/sh
# format.sh ROOT - every C file is as clang-format writes it
set -eu
root=${1:?usage: format.sh ROOT}
cd "$root"
[ -s .clang-format ] || { echo "format: '$root/.clang-format' is missing"; exit 2; }
present=
for folder in base sampler symbolize output flamescope tools tests; do
	[ ! -d "$folder" ] || present="$present $folder"
done
[ -n "$present" ] || { echo "format: no folder exists under '$root'"; exit 2; }

# shellcheck disable=SC2086 # the folders are words
files=$(find $present -type d -name vendor -prune -o -type f \
	\( -name '*.c' -o -name '*.h' -o -name '*.cc' -o -name '*.hpp' \) -print | sort)
[ -n "$files" ] || { echo "format: no C files under '$root'"; exit 2; }
# shellcheck disable=SC2086 # the names have no blanks
clang-format --style=file --dry-run -Werror $files
