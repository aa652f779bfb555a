#!/bin/sh
# agent_so.sh - the agent needs no library, has no TLS, binds at load, exports what is listed
# usage: agent_so.sh EXPORTS AGENT
set -u
exports=$1
agent=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0

complain() {
	echo "agent_so: $*" >&2
	status=1
}

readelf -dW "$agent" >"$work/dynamic" 2>/dev/null && [ -s "$work/dynamic" ] || {
	echo "agent_so: '$agent' cannot be read" >&2
	exit 1
}
readelf -lW "$agent" >"$work/segments" || exit 1
nm -D "$agent" >"$work/names" || exit 1
grep -q '(NEEDED)' "$work/dynamic" && complain "it needs a library: $(grep '(NEEDED)' "$work/dynamic")"
grep -q 'Flags: NOW.* NODELETE' "$work/dynamic" || complain "not linked -z now -z nodelete"
grep -q '^ *TLS' "$work/segments" && complain "it has thread-local storage"
grep -q 'GNU_STACK.*RWE' "$work/segments" && complain "it asks for an executable stack"
awk '$1 == "U" { print $2 }' "$work/names" >"$work/strong"
[ -s "$work/strong" ] && complain "it needs, not weakly: $(tr '\n' ' ' <"$work/strong")"
sed 's/#.*//' "$exports" | awk 'NF { print $1 }' | sort -u >"$work/listed" || exit 1
awk 'NF == 3 && $2 ~ /^[A-Z]$/ { print $3 }' "$work/names" | sort -u >"$work/exported"
cmp -s "$work/listed" "$work/exported" ||
	complain "exports differ from $(basename "$exports"): $(diff "$work/listed" "$work/exported" | grep '^[<>]' | tr '\n' ' ')"
exit $status
