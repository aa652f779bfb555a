#!/bin/sh
# build.sh DIR - a small program in every form of debugging information that the tools here make
#
# DIR/NAME is a program; DIR/list has the names of those whose sections libdw reads too.  What a
# tool is missing for is said and left out.
set -eu
dir=$1
cd "$(dirname "$0")"
rm -rf "$dir"
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
: >"$dir/list"

has() {
	command -v "$1" >/dev/null 2>&1 || {
		echo "build.sh: no $1: $2 is left out"
		return 1
	}
}

# program NAME CC CXX FLAGS...
program() {
	name=$1 cc=$2 cxx=$3
	shift 3
	mkdir -p "$dir/$name.d"
	# -w: options of the linker mean nothing yet
	$cc -w -O2 "$@" -c main.c -o "$dir/$name.d/main.o"
	$cxx -w -O2 "$@" -c part.cc -o "$dir/$name.d/part.o"
	$cxx "$dir/$name.d/main.o" "$dir/$name.d/part.o" "$@" -o "$dir/$name"
	echo "$name" >>"$dir/list"
}

for version in 2 3 4 5; do
	program gcc$version gcc g++ -gdwarf-$version
	if has clang "clang, DWARF $version"; then
		program clang$version clang clang++ -gdwarf-$version
	fi
done
program gcc_g1 gcc g++ -g1
program gcc_64 gcc g++ -gdwarf-5 -gdwarf64
program gcc_types gcc g++ -gdwarf-4 -fdebug-types-section
program gcc_sections gcc g++ -gdwarf-5 -ffunction-sections -Wl,--gc-sections
program gcc_split4 gcc g++ -gdwarf-4 -gsplit-dwarf
program gcc_split5 gcc g++ -gdwarf-5 -gsplit-dwarf
if has clang "clang's variants"; then
	program clang_tables clang clang++ -gline-tables-only
	program clang_split4 clang clang++ -gdwarf-4 -gsplit-dwarf
	program clang_split5 clang clang++ -gdwarf-5 -gsplit-dwarf
	program clang_sections clang clang++ -gdwarf-5 -ffunction-sections -Wl,--gc-sections
	if has ld.lld "what lld throws away"; then
		program clang_lld clang clang++ -gdwarf-5 -ffunction-sections -fuse-ld=lld \
			-Wl,--gc-sections
	fi
fi
# llvm-dwp (14 to 19) does not come back from a unit where an abbreviation with
# DW_FORM_implicit_const stands before the unit's own: of gcc's DWARF 5 only small ones have none.
mkdir "$dir/gcc_plain5.d"
(
	cd "$dir/gcc_plain5.d"
	echo 'int part(int); int main(void) { return part(1); }' >main.c
	echo 'extern "C" int part(int x) { return x + 7; }' >part.cc
	gcc -gdwarf-5 -gsplit-dwarf -O1 -c main.c
	g++ -gdwarf-5 -gsplit-dwarf -O1 -c part.cc
	gcc main.o part.o -o ../gcc_plain5
)
if has llvm-dwp "packages of split units"; then
	for name in gcc_split4 gcc_plain5 clang_split4 clang_split5; do
		[ ! -e "$dir/$name" ] || timeout 10 llvm-dwp -e "$dir/$name" -o "$dir/$name.dwp"
	done
fi
# The same sections, compressed in three ways.
for way in zlib zlib-gnu zstd; do
	objcopy --compress-debug-sections=$way "$dir/gcc5" "$dir/gcc5_$way" 2>/dev/null ||
		echo "build.sh: objcopy has no $way: it is left out"
done
if has dwz "what dwz makes"; then
	program dwz_one gcc g++ -gdwarf-5
	dwz "$dir/dwz_one"
	program dwz_alt gcc g++ -gdwarf-5
	cp "$dir/dwz_alt" "$dir/dwz_other"
	(cd "$dir" && dwz -m dwz.alt dwz_alt dwz_other)
fi
