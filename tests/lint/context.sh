#!/bin/sh
# context.sh ROOT - every function that a header declares says where it may be called from
#
# The comment that stands right before the declaration is a kernel-doc one, is about that very
# name, and has a "Context:" line that starts with one of the known words.  A header whose first
# comment has that line says it for all functions whose own comments do not.
set -eu
root=${1:?usage: context.sh ROOT}
here=$(cd "$(dirname "$0")" && pwd)
cd "$root"
present=
for folder in base sampler symbolize output flamescope tools; do
	[ ! -d "$folder" ] || present="$present $folder"
done
[ -n "$present" ] || { echo "context: no folder exists under '$root'"; exit 2; }

# shellcheck disable=SC2086 # the folders are words
headers=$(find $present -type f -name '*.h' | sort)
[ -n "$headers" ] || { echo "context: no headers under '$root'"; exit 2; }
# shellcheck disable=SC2086 # the names have no blanks
awk -f "$here/context.awk" $headers
