#!/bin/sh
# run.sh DIR TEST... - tests of the page in chromium, with the packages that npm.sh keeps in DIR
#
# Prints why and leaves 77, as skipped tests do, without a browser, node or the packages.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
WICK_NPM=${1:?usage: run.sh DIR TEST...}
shift
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
	echo "run.sh: there is no chromium"
	exit 77
}
command -v node >/dev/null 2>&1 || { echo "run.sh: there is no node"; exit 77; }
sh "$here/../compat/npm.sh" "$WICK_NPM"
export WICK_NPM CHROMIUM
cd "$here"
exec node --test "$@"
