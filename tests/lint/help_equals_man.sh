#!/bin/sh
# help_equals_man.sh ROOT BUILD - `wick help X` and docs/man/wick-X.1 say the same
#
# The summary, the synopsis, and every option with its argument; for each command that
# `wick help` lists (but help itself, which wick.1 explains).
set -eu
root=${1:?usage: help_equals_man.sh ROOT BUILD}
wick=${2:?usage: help_equals_man.sh ROOT BUILD}/bin/wick
[ -x "$wick" ] || { echo "help_equals_man: '$wick' is missing"; exit 2; }
wick=$(cd "$(dirname "$wick")" && pwd)/wick
cd "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

# page NAME - a manual page as plain text, in lines that are not broken
page() {
	MANWIDTH=300 MANPAGER=cat man --local-file --no-hyphenation --no-justification --encoding=ascii \
		"docs/man/$1.1" 2>"$work/man-said" | col -bx
	[ ! -s "$work/man-said" ] || { sed "s/^/$1.1: /" "$work/man-said"; bad=1; }
}

# options - "-x, --long ARG" of every line that starts an option
options() {
	sed -nE 's/^ +((-[A-Za-z], )?--[a-z-]+( [A-Z]+)?)(  .*)?$/\1/p' | sort
}

# under HEADING - the first line under a heading of a page
under() {
	awk -v heading="$1" '$0 == heading { getline; sub(/^ +/, ""); print; exit }'
}

# same WHAT COMMAND HELP MAN
same() {
	if [ "$3" != "$4" ]; then
		echo "wick $2: $1 differ: help says '$3', the page '$4'"
		bad=1
	fi
}

commands=$("$wick" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  .*/\1/p')
[ -n "$commands" ] || { echo "help_equals_man: '$wick help' lists no command"; exit 2; }
for command in $commands; do
	[ "$command" != help ] || continue
	if [ ! -s "docs/man/wick-$command.1" ]; then
		echo "wick $command: docs/man/wick-$command.1 is missing"
		bad=1
		continue
	fi
	"$wick" help "$command" >"$work/help"
	page "wick-$command" >"$work/page"
	same "summaries" "$command" "$(sed -n '1s/^wick [a-z]* - //p' "$work/help")" \
		"$(under NAME <"$work/page" | sed 's/^.* - //')"
	same "synopses" "$command" "$(sed -n 's/^Usage: //p' "$work/help")" \
		"$(under SYNOPSIS <"$work/page")"
	options <"$work/help" >"$work/help-options"
	options <"$work/page" >"$work/page-options"
	[ -s "$work/help-options" ] || { echo "wick $command: its help has no option"; bad=1; }
	if ! diff "$work/help-options" "$work/page-options" >"$work/diff"; then
		sed -n "s/^< \(.*\)/wick $command: the page lacks '\1'/p;
			s/^> \(.*\)/wick $command: the help lacks '\1'/p" "$work/diff"
		bad=1
	fi
	grep -q "wick-$command" docs/man/wick.1 2>/dev/null || {
		echo "wick $command: docs/man/wick.1 does not name wick-$command"
		bad=1
	}
done
exit $bad
