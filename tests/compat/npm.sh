#!/bin/sh
# npm.sh DIR - the packages of package-lock.json, in DIR/node_modules; does nothing when they are there
#
# Their registry is the user's own; nothing of theirs is run on installing.  Prints why and leaves
# 77, as skipped tests do, when there is no npm or no registry to be reached.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:?usage: npm.sh DIR}
command -v npm >/dev/null 2>&1 || { echo "npm.sh: there is no npm"; exit 77; }
mkdir -p "$to"
exec 9>"$to/.lock"
flock 9
cmp -s "$here/package-lock.json" "$to/installed" && exit 0
rm -f "$to/installed"
cp "$here/package.json" "$here/package-lock.json" "$to"
if ! (cd "$to" && npm ci --ignore-scripts --no-audit --no-fund --omit=dev) >"$to/npm.log" 2>&1; then
	tail -n 20 "$to/npm.log"
	# A lock file that does not fit is our mistake; anything else is the network's.
	! grep -q "EUSAGE\|EINTEGRITY" "$to/npm.log" || exit 1
	exit 77
fi
cp "$here/package-lock.json" "$to/installed"
