#!/bin/sh
# handler_symbols_trips.sh - handler_symbols.sh must fail on each of these
# usage: handler_symbols_trips.sh LINT ALLOW CC OBJECT...
set -u
lint=$1
allow=$2
cc=$3
shift 3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0

must_fail() {
	what=$1
	shift
	if "$lint" "$@" >/dev/null 2>&1; then
		echo "handler_symbols passed $what" >&2
		status=1
	fi
}

printf '#include <stdlib.h>\nvoid *bad(void);\nvoid *bad(void) { return malloc(8); }\n' >"$work/m.c"
printf 'extern _Thread_local int t;\nint bad(void);\nint bad(void) { return ++t; }\n' >"$work/t.c"
"$cc" -fPIC -c -o "$work/m.o" "$work/m.c" || exit 1
"$cc" -fPIC -c -o "$work/t.o" "$work/t.c" || exit 1
: >"$work/empty.o"
echo "not an object" >"$work/text.o"

must_fail "a call of malloc" "$allow" "$@" "$work/m.o"
must_fail "thread-local storage" "$allow" "$@" "$work/t.o"
must_fail "an empty object" "$allow" "$@" "$work/empty.o"
must_fail "a file that is no object" "$allow" "$@" "$work/text.o"
must_fail "a missing object" "$allow" "$@" "$work/missing.o"
must_fail "no object" "$allow"
must_fail "objects without the handler" "$allow" "$work/m.o"
must_fail "a missing list" "$work/none.allow" "$@"
exit $status
