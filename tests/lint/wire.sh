#!/bin/sh
# wire.sh ROOT - the tables of docs/wire.md are the layouts of sampler/wire/, byte by byte
#
# A table that starts with | `NAME` | offset | bytes | describes struct NAME: every row must
# stand where the compiler puts it, the rows must leave no gap, and the row "end" is the size.
set -eu
root=${1:?usage: wire.sh ROOT}
cc=${CC:-cc}
cd "$root"
[ -s docs/wire.md ] || { echo "wire: 'docs/wire.md' is missing"; exit 2; }
[ -s sampler/wire/ring.h ] || { echo "wire: 'sampler/wire/ring.h' is missing"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sed -n 's/^struct \([a-z_]*\) {$/\1/p' sampler/wire/*.h >"$work/structs"
[ -s "$work/structs" ] || { echo "wire: sampler/wire/ holds no struct"; exit 2; }
awk -F'|' '
function word(text) {
	gsub(/[ `]/, "", text)
	return text
}
function say(text) {
	print "wire: " text | "cat >&2"
	bad = 1
}
/^\| `/ && word($3) == "offset" {
	name = word($2)
	described[name] = 1
	next_at = 0
	next
}
name != "" && /^\| (`|end )/ {
	field = word($2)
	at = word($3) + 0
	bytes = word($4) + 0
	if (at != next_at)
		say("struct " name ": a gap before " field ", at " at)
	if ($2 ~ /^ end /)
		printf "_Static_assert(sizeof(struct %s) == %d, \"%s\");\n", name, at, name
	else
		printf "_Static_assert(offsetof(struct %s, %s) == %d, \"%s.%s\");\n", name, field, at, name, field
	if (bytes)
		printf "_Static_assert(sizeof(((struct %s *)0)->%s) == %d, \"%s.%s\");\n", name, field, bytes, name, field
	next_at = at + bytes
	next
}
!/^\|/ { name = "" }
END {
	for (name in described)
		n++
	if (!n)
		say("docs/wire.md describes no struct")
	while ((getline line < "'"$work"'/structs") > 0)
		if (!(line in described))
			say("docs/wire.md does not describe struct " line)
	exit bad
}' docs/wire.md >"$work/asserts" || exit 1
{
	for header in sampler/wire/*.h; do
		echo "#include \"$header\""
	done
	echo '#include <stddef.h>'
	cat "$work/asserts"
} | "$cc" -std=gnu17 -fsyntax-only -I . -x c -
