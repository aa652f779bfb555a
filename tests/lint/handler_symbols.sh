#!/bin/sh
# handler_symbols.sh - what the handler's objects need is theirs or in handler.allow
# usage: handler_symbols.sh ALLOW OBJECT...     (objects and archives)
set -u
if [ $# -lt 2 ]; then
	echo "handler_symbols: no objects given" >&2
	exit 1
fi
allow=$1
shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for object in "$@"; do
	if [ ! -s "$object" ]; then
		echo "handler_symbols: '$object' is missing or empty" >&2
		exit 1
	fi
	nm "$object" >"$work/nm" 2>"$work/complaint" || {
		echo "handler_symbols: nm cannot read '$object'" >&2
		exit 1
	}
	cat "$work/nm" >>"$work/all"
done
# Own: what any of the objects defines for the others.
awk 'NF == 3 && $2 ~ /^[TDBRVWtdbrn]$/ { print $3 }' "$work/all" | sort -u >"$work/own"
awk 'NF == 2 && $1 ~ /^[UwvV]$/ { print $2 }' "$work/all" | sort -u >"$work/needed"
sed 's/#.*//' "$allow" | awk 'NF { print $1 }' | sort -u >"$work/allowed" || exit 1
if [ ! -s "$work/own" ] || ! grep -qx on_sigprof "$work/own"; then
	echo "handler_symbols: the handler itself is not among the objects" >&2
	exit 1
fi
sort -u "$work/own" "$work/allowed" >"$work/known"
# The linker's own name, not a call.
foreign=$(comm -23 "$work/needed" "$work/known" | grep -vx _GLOBAL_OFFSET_TABLE_)
if [ -n "$foreign" ]; then
	for name in $foreign; do
		echo "handler_symbols: a handler needs '$name': not own, not in $(basename "$allow")" >&2
	done
	exit 1
fi
