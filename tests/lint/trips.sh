#!/bin/sh
# trips.sh LINT SOURCE - feeds a lint known-bad trees: a lint that cannot fail is decoration
#
# Builds a small tree that is in order, sees that the lint passes it, then breaks one thing at
# a time and wants the lint to fail and to name it.
set -eu
lint=${1:?usage: trips.sh LINT SOURCE}
source=$(cd "${2:?usage: trips.sh LINT SOURCE}" && pwd)
script=$source/tests/lint/$lint.sh
[ -e "$script" ] || script=$source/tests/lint/$lint
[ -x "$script" ] || { echo "trips: '$script' is missing"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
n=0

# build_house - a tree that every lint passes
build_house() {
	rm -rf "$tree"
	mkdir -p "$tree/base" "$tree/output" "$tree/sampler/include" "$tree/sampler/handler" \
		"$tree/sampler/wire" "$tree/docs/man" "$tree/build/bin" \
		"$tree/tests/lint" "$tree/build"
	cp "$source/tests/lint/layers.txt" "$tree/tests/lint/"
	cp "$source/.clang-format" "$source/.clang-tidy" "$tree/"
	cat >"$tree/base/lamp.h" <<'LAMP'
/* lamp.h - a lamp */
#ifndef BASE_LAMP_H
#define BASE_LAMP_H

#include <stdint.h>

struct lamp {
	uint32_t watts;
	void (*glow)(struct lamp *lamp);
};

extern void (*_Atomic lamp_watcher)(struct lamp *lamp); /* a variable: no Context */

/**
 * lamp_light - light it
 *
 * Return:  0.
 * Context: any thread.
 */
int lamp_light(struct lamp *lamp) __attribute__((nonnull(1)));

#endif
LAMP
	cat >"$tree/base/lamp.c" <<'LAMP'
/* lamp.c - a lamp */
#include "base/lamp.h"

int lamp_light(struct lamp *lamp)
{
	lamp->watts = 60;
	return 0;
}
LAMP
	cat >"$tree/output/reader.c" <<'READER'
/* reader.c - a file that uses a lamp */
#include "base/lamp.h"

int reader_enter(struct lamp *lamp);

int reader_enter(struct lamp *lamp)
{
	return lamp_light(lamp);
}
READER
	cat >"$tree/sampler/include/wick.h" <<'WICK'
/* wick.h - what a program may say */
#ifndef WICK_H
#define WICK_H

struct wick_task {
	int id;
};

#endif
WICK
	cat >"$tree/sampler/wire/ring.h" <<'DOOR'
/* ring.h - a door */
#ifndef WIRE_RING_H
#define WIRE_RING_H

#include <stdint.h>

struct door {
	uint32_t height;
	uint32_t width;
};

#endif
DOOR
	cat >"$tree/docs/wire.md" <<'DOOR'
| `door` | offset | bytes | |
|---|---|---|---|
| `height` | 0 | 4 | |
| `width` | 4 | 4 | |
| end | 8 | | |
DOOR
	cat >"$tree/docs/man/wick-light.1" <<'PAGE'
.TH WICK\-LIGHT 1
.SH NAME
wick\-light \- light a lamp
.SH SYNOPSIS
.B wick light
[OPTIONS] LAMP
.SH OPTIONS
.TP
.BI "\-w, \-\-watts " N
How bright.
.TP
.B \-\-dim
Less so.
PAGE
	echo 'wick-light(1)' >"$tree/docs/man/wick.1"
	cat >"$tree/build/bin/wick" <<'WICK'
#!/bin/sh
if [ $# = 1 ]; then
	printf 'Commands:\n  light  light a lamp\n  help  this\n\n'
	exit
fi
cat <<HELP
wick light - light a lamp

Usage: wick light [OPTIONS] LAMP

Options:
  -w, --watts N  how bright
      --dim      less so
HELP
WICK
	chmod +x "$tree/build/bin/wick"
	mkdir -p "$tree/flamescope/web/parts"
	echo 'keys.add({ key: "l", what: "light" });' >"$tree/flamescope/web/parts/keys.js"
	echo 'no picture, but small' >"$tree/docs/lamp.png"
	cat >"$tree/README.md" <<'README'
`wick light --dim LAMP` or <kbd>l</kbd>: ![the lamp](docs/lamp.png)

```
$ wick light -w 60 lamp && echo lit
```
README
	cat >"$tree/SECURITY.md" <<'PROMISES'
| promise | held by |
|---|---|
| A lamp is off in the end | `e2e.lamp test_goes_out`, `hostile.lamp` |
PROMISES
	mkdir -p "$tree/tests/e2e" "$tree/tests/hostile"
	echo 'def test_goes_out(self): pass' >"$tree/tests/e2e/test_lamp.py"
	echo 'CASES = []' >"$tree/tests/hostile/surface_lamp.py"
	list_figures
	list_sources
}

# list_figures - the limits of the tree, which are its figures
list_figures() {
	cat >"$tree/tests/lint/figures.txt" <<'FIGURES'
# figure limit
lines 60
modules 2
headers 3
header_lines 43
structs 3
functions 2
called_once 1
called_once_pct 50
static_once_pct 0
one_user 1
includes_across 1
includes_upward 0
includes_cyclic 0
folders_large 0
javascript 1
javascript_long 0
faces_collector 0
faces_tools 0
faces_symbolize 0
faces_output 0
faces_flamescope 0
FIGURES
}

# list_sources - the tree's compile database
list_sources() {
	{
		echo '['
		comma=
		for file in base/lamp.c output/reader.c; do
			[ -z "$comma" ] || echo ','
			comma=1
			echo "{ \"directory\": \"$tree\","
			echo "  \"command\": \"cc -std=gnu17 -I. -c $file\","
			echo "  \"file\": \"$tree/$file\""
			echo '}'
		done
		echo ']'
	} >"$tree/build/compile_commands.json"
}

run_lint() {
	"$script" "$tree" "$tree/build" >"$work/said" 2>&1
}

passes() {
	n=$((n + 1))
	run_lint || { echo "$lint fails a tree that is $1:"; cat "$work/said"; exit 1; }
	build_house
}

# fails WHAT PATTERN - the lint must fail the tree as it stands, and say something like PATTERN
fails() {
	n=$((n + 1))
	if run_lint; then
		echo "$lint passes $1"
		exit 1
	fi
	grep -q -e "$2" "$work/said" || {
		echo "$lint fails $1 but does not say '$2':"
		cat "$work/said"
		exit 1
	}
	build_house
}

trip_layers() {
	echo '#include "symbolize/lamp.h"' >>"$tree/output/reader.c"
	fails "a floor that is not allowed" "output may not include symbolize"
	echo '#include "base/lamp.h"' >"$tree/sampler/handler/on_dark.c"
	fails "a handler that includes base" "sampler/handler may not include base"
	echo '#  include "lamp.h"' >>"$tree/base/lamp.c"
	fails "an include beside the root" "no path from the root"
	echo '#include "misc/lamp.h"' >>"$tree/base/lamp.c"
	fails "an include of an unknown folder" "no path from the root"
	mkdir "$tree/sampler/misc"
	echo '/* */' >"$tree/sampler/misc/lamp.c"
	fails "a folder without a line" "does not name"
	rm "$tree/tests/lint/layers.txt"
	fails "a tree without layers" "missing"
	sed -i '/include "/d' "$tree/base/lamp.c" "$tree/output/reader.c"
	fails "a tree where nothing is checked" "no #include"
}

trip_sizes() {
	yes ' * dark' | head -n 599 | sed '1s/^/\/*/; $s/$/ *\//' >"$tree/base/long.c"
	passes "just short enough"
	yes ' * dark' | head -n 601 | sed '1s/^/\/*/; $s/$/ *\//' >"$tree/base/long.c"
	fails "601 lines" "long.c: 601 lines"
	yes '# dark' | head -n 700 >"$tree/tests/long.sh"
	fails "a long script" "long.sh: 700 lines"
}

trip_format() {
	sed -i 's/^\tlamp->watts/    lamp->watts/' "$tree/base/lamp.c"
	fails "blanks for a tab" "lamp.c"
	rm "$tree/.clang-format"
	fails "a tree without a format" "missing"
}

trip_headers_alone() {
	sed -i '/stdint/d' "$tree/base/lamp.h"
	fails "a header that leans on another" "base/lamp.h\|uint32_t"
	sed -i 's/int id;/int class;/' "$tree/sampler/include/wick.h"
	fails "a public header that C++ refuses" "class\|expected"
	sed -i 's/int id;/int id; _Static_assert(1, "dark");/' "$tree/sampler/include/wick.h"
	fails "a public header that C99 refuses" "C99"
}

trip_context() {
	sed -i 's|^/\* lamp.h.*|/*\n * lamp.h - a lamp\n *\n * Context: some thread.\n */|' "$tree/base/lamp.h"
	fails "a header with a Context of its own words" "the header has a Context: that starts"
	sed -i -e '/Context:/d' -e 's|^/\* lamp.h.*|/*\n * lamp.h - a lamp\n *\n * Context: any thread.\n */|' \
		"$tree/base/lamp.h"
	passes "a header that says the Context of its functions"
	sed -i '/Context:/d' "$tree/base/lamp.h"
	fails "a declaration without Context" "lamp_light() does not say its Context:"
	sed -i 's/any thread/some thread/' "$tree/base/lamp.h"
	fails "a Context of its own words" "starts with none of"
	sed -i 's/lamp_light - /lamp_dim - /' "$tree/base/lamp.h"
	fails "a comment of another function" "comment of something else"
	sed -i 's/^int lamp_light/int lamp_dim(void);\n&/' "$tree/base/lamp.h"
	fails "two declarations under one comment" "lamp_dim() has the comment of something else"
	sed -i 's|^#endif|static inline int lamp_off(void) { return 0; }\n#endif|' "$tree/base/lamp.h"
	fails "an inline function without a comment" "lamp_off() has no comment"
	sed -i 's|^/\*\*$|/*|' "$tree/base/lamp.h"
	fails "a comment of the plain sort" "does not start with"
	sed -i '/^int lamp_light/d' "$tree/base/lamp.h"
	fails "headers that declare nothing" "no function declaration"
}

trip_tidy() {
	sed -i 's/lamp->watts = 60/lamp = 0;\n\tlamp->watts = 60/' "$tree/base/lamp.c"
	fails "a null pointer that is used" "NullDereference"
	{
		echo 'int lamp_long(int x);'
		echo 'int lamp_long(int x)'
		echo '{'
		yes '	x += 1;' | head -n 70
		echo '	return x;'
		echo '}'
	} >>"$tree/base/lamp.c"
	fails "a function of 70 lines" "function-size"
	echo 'int lampMany(void) { return 0; }' >>"$tree/base/lamp.c"
	fails "a name in another tree's style" "identifier-naming"
	echo 'int lamp_other;' >"$tree/base/other.c"
	fails "a source that nothing compiles" "other.c: is not compiled"
	rm "$tree/build/compile_commands.json"
	fails "a build without a database" "missing"
	echo '[]' >"$tree/build/compile_commands.json"
	fails "a database that compiles nothing" "compiles no C file"
}

trip_cppcheck() {
	cat >>"$tree/base/lamp.c" <<'LAMP'

int lamp_row(void)
{
	int row[4] = {0};

	return row[4];
}
LAMP
	fails "a read past the end" "arrayIndexOutOfBounds"
}

trip_wire() {
	sed -i 's/^| `width` | 4 | 4 |/| `width` | 8 | 4 |/' "$tree/docs/wire.md"
	fails "a field at another offset" "gap before width"
	sed -i 's/uint32_t height/uint16_t height/' "$tree/sampler/wire/ring.h"
	fails "a field of another size" "door"
	sed -i '/`height`/d' "$tree/docs/wire.md"
	fails "a field that is not described" "gap before width"
	echo 'struct window {' >>"$tree/sampler/wire/ring.h"
	fails "a struct that is not described" "does not describe struct window"
	rm "$tree/docs/wire.md"
	fails "wire without a description" "missing"
}

trip_help_equals_man() {
	sed -i 's/^\.BI.*watts.*/.BI "\\-w, \\-\\-power " N/' "$tree/docs/man/wick-light.1"
	fails "an option that the page does not have" "the page lacks '-w, --watts N'"
	sed -i '/--watts N/d' "$tree/build/bin/wick"
	fails "an option that the help does not have" "the help lacks '-w, --watts N'"
	sed -i 's/--watts N/--watts/' "$tree/build/bin/wick"
	fails "an option with another argument" "the page lacks '-w, --watts'"
	sed -i 's/light a lamp/put it out/' "$tree/docs/man/wick-light.1"
	fails "another summary" "summaries differ"
	sed -i 's/LAMP/LAMPS/' "$tree/docs/man/wick-light.1"
	fails "another synopsis" "synopses differ"
	rm "$tree/docs/man/wick-light.1"
	fails "a command without a page" "wick-light.1 is missing"
	echo >"$tree/docs/man/wick.1"
	fails "a page that nothing leads to" "does not name wick-light"
	rm "$tree/build/bin/wick"
	fails "a program that is not there" "missing"
}

trip_docs() {
	sed -i 's/test_goes_out/test_burns_on/' "$tree/SECURITY.md"
	fails "a promise whose test is gone" "SECURITY.md:3: there is no test 'e2e.lamp test_burns_on'"
	sed -i 's/`hostile.lamp`/`hostile.light`/' "$tree/SECURITY.md"
	fails "a promise whose surface is gone" "SECURITY.md:3: there is no test 'hostile.light'"
	sed -i 's/`//g' "$tree/SECURITY.md"
	fails "a promise that nothing holds" "SECURITY.md:3: no test holds this promise"
	sed -i '/lamp/d' "$tree/SECURITY.md"
	fails "a page without a promise" "SECURITY.md: it promises nothing"
	rm "$tree/SECURITY.md"
	fails "a page that is gone" "SECURITY.md is missing"
	sed -i 's/--dim/--dark/' "$tree/README.md"
	fails "an option that is gone" "README.md:1: wick light has no option --dark"
	sed -i 's/-w 60/-v 60/' "$tree/README.md"
	fails "an option in a block that is gone" "README.md:4: wick light has no option -v"
	sed -i 's/ wick light -w/ wick shine -w/' "$tree/README.md"
	fails "a command that is gone" "README.md:4: there is no 'wick shine'"
	echo 'With `--brighter` it is.' >>"$tree/README.md"
	fails "an option that no command has" "no command has the option --brighter"
	sed -i 's/<kbd>l/<kbd>d/' "$tree/README.md"
	fails "a key that the page does not have" "the page has no key d"
	sed -i 's/lamp.png/light.png/' "$tree/README.md"
	fails "a picture that is not there" "'docs/light.png' is missing"
	cp "$tree/docs/lamp.png" "$tree/docs/other.png"
	fails "a picture that nothing shows" "other.png: no page shows it"
	head -c 70000 /dev/zero >"$tree/docs/lamp.png"
	fails "a picture that is large" "lamp.png: 70000 bytes"
	echo 'Nothing.' >"$tree/README.md"
	rm "$tree/docs/lamp.png"
	fails "pages without a command" "no page has a command"
	rm "$tree/build/bin/wick"
	fails "a program that is not there" "missing"
}

# add_includes OF TO... - writes the header OF, which includes every header TO
add_includes() {
	of=$1
	shift
	mkdir -p "$tree/${of%/*}"
	for to; do
		echo "#include \"$to\""
	done >"$tree/$of"
}

trip_figures() {
	names=$(sed '/^#/d; s/ .*//' "$tree/tests/lint/figures.txt")
	for name in $names; do
		awk -v name="$name" '$1 == name { $2-- } 1' "$tree/tests/lint/figures.txt" >"$work/lower"
		cp "$work/lower" "$tree/tests/lint/figures.txt"
		fails "a limit below its figure" "figures: $name is"
	done
	sed -i '/^headers /d' "$tree/tests/lint/figures.txt"
	fails "a figure without a limit" "no limit for 'headers'"
	echo 'colours 1' >>"$tree/tests/lint/figures.txt"
	fails "a limit of nothing" "'colours', which is no figure"
	rm "$tree/tests/lint/figures.txt"
	fails "a tree without limits" "missing"
	sed -i '1s|.*|/* lamp_light(lamp) "{" */|' "$tree/output/reader.c"
	passes "calling a function in a comment"
	sed -i '1s|.*|#define WARN "lamp_light(lamp); }"|' "$tree/output/reader.c"
	passes "calling a function in a string"
	sed -i '1s|.*|#define LIGHT(lamp) lamp_light(lamp)|' "$tree/output/reader.c"
	sed -i 's/^called_once.* 1$/called_once 0/' "$tree/tests/lint/figures.txt"
	passes "calling a function in a macro as well"
	sed -i '1s|.*|struct reader { int (*enter)(struct lamp *); } reader = { reader_enter };|' "$tree/output/reader.c"
	fails "a function whose address is taken once" "called_once is 2,"
	echo 'static int dim(void) { return 1; } int dark(void) { return dim(); }' >>"$tree/base/lamp.c"
	echo 'static int dim(void) { return 2; } int glow(void) { return dim(); }' >>"$tree/output/reader.c"
	fails "static functions of one name that are called once each" "static_once_pct is 33,"
	echo 'int dark(void) {' >>"$tree/base/lamp.c"
	fails "a brace that nothing closes" "base/lamp.c: its braces"
	echo 'struct __attribute__((packed)) wick { int id; };' >>"$tree/sampler/include/wick.h"
	fails "another struct" "structs is 4,"
	add_includes tools/lamp.h base/lamp.h
	sed -i '/^one_user/s/1/0/' "$tree/tests/lint/figures.txt"
	sed -i '/^\(lines\|header\|includes_across\)/s/ .*/ 99/' "$tree/tests/lint/figures.txt"
	passes "including a header twice"
	add_includes symbolize/elf/spark.h output/glow.h
	add_includes output/glow.h
	fails "an include that layers.txt does not allow" "includes_upward is 1,"
	add_includes tools/a.h symbolize/elf/spark.h symbolize/b.h
	add_includes symbolize/elf/spark.h
	add_includes symbolize/b.h
	fails "headers that are included from outside" "faces_symbolize is 2,"
	add_includes sampler/collector/ring/a.h
	add_includes sampler/collector/a.h sampler/collector/ring/a.h
	add_includes sampler/external/a.h sampler/collector/a.h sampler/collector/ring/a.h
	fails "headers of a folder and its subfolder that are included from outside" "faces_collector is 2,"
	add_includes base/cold/a.h base/lamp.h base/cold/b.h
	add_includes base/cold/b.h base/lamp.h
	add_includes base/hot.h base/cold/a.h
	fails "two folders that include each other" "includes_upward is 1,"
	add_includes base/a/a.h base/b/b.h base/b/c.h
	add_includes base/b/b.h base/c/c.h
	add_includes base/b/c.h base/c/c.h
	add_includes base/c/c.h base/a/a.h
	fails "three folders in a circle" "includes_cyclic is 1,"
	for number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
		: >"$tree/base/lamp$number.c"
	done
	fails "a folder of 16 modules" "folders_large is 1,"
	yes '/* dark */' | head -n 6001 >"$tree/output/reader.h"
	fails "a folder of 6,001 lines" "output: 1 modules, 60"
}

build_house
case $lint in
figures | layers | sizes | format | headers_alone | context | tidy | cppcheck | wire | help_equals_man | docs) ;;
*)
	echo "trips: no known-bad input for '$lint'"
	exit 2
	;;
esac
passes "in order"
"trip_$lint"
rm -rf "$tree"
mkdir "$tree"
n=$((n + 1))
if run_lint; then
	echo "$lint passes an empty tree"
	exit 1
fi
echo "$lint: $n trees judged rightly"
