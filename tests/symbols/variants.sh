#!/bin/bash
# variants.sh DIR quick|all [NAME...] - builds the marked program in every form of debugging information
#
# DIR/list gets a line a variant: NAME FILE FLAGS, where FLAGS, or -, say what cannot be known there:
# bare (inlined functions without their namespaces), nameless (inlined functions have none), names
# (no lines), outer (no inlined calls), none (nothing at all but exported names), folded (one of two
# alike), and what is to be told: debug=DIR (a folder of debug files by build-id), from=PATH (what
# the sources' folder was renamed to).
set -eu
dir=$(realpath -m "${1:?usage: variants.sh DIR quick|all [NAME...]}")
form=${2:?usage: variants.sh DIR quick|all [NAME...]}
shift 2
wanted=" $* "
cd "$(dirname "$0")/.."
source=symbols
mkdir -p "$dir"
: >"$dir/list"

# begin quick|long NAME [FLAGS] - false when the variant is not wanted
begin() {
	name=$2
	flags=${3:--}
	here=$dir/$name
	out=$here/marks
	[ "$form" = all ] || [ "$1" = quick ] || return 1
	[ "$wanted" = "  " ] || case $wanted in *" $name "*) ;; *) return 1 ;; esac
	rm -rf "$here"
	mkdir -p "$here"
	echo "$name $out $flags" >>"$dir/list"
}

# objects CC FLAGS... - compiles, with paths that are relative to the folder above this one
objects() {
	local cc=$1
	shift
	case $cc in
	gcc) cxx=g++ ;;
	clang) cc="clang -Qunused-arguments" cxx="clang++ -Qunused-arguments" ;;
	esac
	$cc -O2 "$@" -c $source/marks.c -o "$here/marks_c.o"
	$cxx -O2 "$@" -c $source/marks.cc -o "$here/marks_cc.o"
	assembled "$@"
}

# assembled FLAGS... - the part in assembly
assembled() {
	${cc:-gcc} "$@" -c $source/marks_asm.S -o "$here/marks_asm.o"
}

# program FLAGS... - links what was compiled
program() {
	$cxx -O2 "$@" "$here/marks_c.o" "$here/marks_cc.o" "$here/marks_asm.o" -o "$out"
}

# plain CC FLAGS... - both
plain() {
	objects "$@"
	shift
	program "$@"
}

# The build-id of the program: two hexadecimal digits, a slash, the rest.
id_path() {
	readelf -n "$out" | sed -n 's/.*Build ID: \(..\)\(.*\)/\1\/\2/p'
}

# apart - the debugging information moves to the file that is given, and out of the program
apart() {
	mkdir -p "$(dirname "$1")"
	objcopy --only-keep-debug "$out" "$1"
	strip "$out"
}

# mixed - one unit with an entry in .debug_aranges, one without
mixed() {
	gcc -O2 -g -c $source/marks.c -o "$here/marks_c.o"
	clang++ -O2 -g -c $source/marks.cc -o "$here/marks_cc.o"
	cc=gcc cxx=g++
	assembled -g
	program
}

# with_alt - a second program, and what both have in common in a file of its own
with_alt() {
	plain gcc "$@"
	cp "$out" "$here/other"
	objcopy --remove-section=.note.gnu.build-id "$here/other"
	(cd "$here" && dwz -m alt.debug marks other)
}

# Symbols of functions only, in a compressed file within the file.
minidebuginfo() {
	plain gcc -g
	nm -D "$out" --format=posix --defined-only | awk '{ print $1 }' | sort >"$here/dynamic"
	nm "$out" --format=posix --defined-only | awk '$2 ~ /[TtWw]/ { print $1 }' | sort >"$here/all"
	comm -13 "$here/dynamic" "$here/all" >"$here/keep"
	objcopy --only-keep-debug "$out" "$here/debug"
	objcopy -S --remove-section .gdb_index --remove-section .comment \
		--keep-symbols="$here/keep" "$here/debug" "$here/mini"
	xz "$here/mini"
	strip --strip-all -R .comment "$out"
	objcopy --add-section .gnu_debugdata="$here/mini.xz" "$out"
	rm "$here/debug"
}

moved() {
	plain gcc -g "$@"
	debugedit -b "$PWD" -d /usr/src/moved "$out"
}

# gcc
for version in 2 3 4 5; do
	quick=long
	[ $version -lt 4 ] || quick=quick
	! begin $quick gcc-dwarf$version || plain gcc -g -gdwarf-$version
	! begin $quick clang-dwarf$version || plain clang -g -gdwarf-$version
done
! begin quick gcc-g1 bare || plain gcc -g1
! begin long gcc-O0 || plain gcc -g -O0
! begin long gcc-O3 || plain gcc -g -O3 -DMARKS_O3
! begin long gcc-g3 || plain gcc -g3
! begin quick gcc-lto || plain gcc -g -flto=1
! begin long gcc-lto-parts || plain gcc -g -flto=auto -flto-partition=max
! begin long gcc-own-lines || plain gcc -g -gno-as-loc-support
! begin long gcc-no-columns || plain gcc -g -gno-column-info
! begin long gcc-strict || plain gcc -g -gstrict-dwarf
! begin quick gcc-dwarf64 || plain gcc -g -gdwarf64
! begin long gcc-dwarf64-v4 || plain gcc -g -gdwarf64 -gdwarf-4
! begin quick gcc-types || plain gcc -g -fdebug-types-section
! begin long gcc-types-v4 || plain gcc -g -gdwarf-4 -fdebug-types-section
! begin long gcc-sections || plain gcc -g -ffunction-sections
! begin quick gcc-non-pie || plain gcc -g -no-pie -fno-pie
! begin quick gcc-static || plain gcc -g -static
! begin long gcc-static-pie || plain gcc -g -static-pie
! begin long gcc-no-id || plain gcc -g -Wl,--build-id=none
! begin long gcc-separate-code || plain gcc -g -Wl,-z,noseparate-code
! begin quick gcc-lld || plain gcc -g -fuse-ld=lld
! begin long gcc-shifted || plain gcc -g -Wl,-Ttext-segment=0x40000
! begin long gcc-gold || plain gcc -g -fuse-ld=gold
! begin long gcc-prefix-map from=/prefix || plain gcc -g -ffile-prefix-map="$PWD=/prefix"

# clang
! begin quick clang-lines bare || plain clang -gline-tables-only
! begin long clang-g1-O1 bare || plain clang -g1 -O1
! begin long clang-O3 || plain clang -g -O3
! begin quick clang-lld || plain clang -g -fuse-ld=lld
! begin quick clang-thinlto || plain clang -g -flto=thin -fuse-ld=lld
! begin long clang-lto || plain clang -g -flto -fuse-ld=lld
! begin quick clang-dwarf64 || plain clang -g -gdwarf-5 -gdwarf64
! begin long clang-types || plain clang -g -fdebug-types-section
! begin long clang-simple-names || plain clang -g -gsimple-template-names
! begin long clang-aranges || plain clang -g -gdwarf-aranges
! begin long clang-blocks || plain clang -g -fbasic-block-sections=all -fuse-ld=lld
! begin long clang-static || plain clang -g -static
! begin quick mixed-aranges || mixed

# Split: units in .dwo files, in the objects, in a .dwp.
for compiler in gcc clang; do
	for version in 4 5; do
		quick=long
		[ $version = 4 ] || quick=quick
		! begin $quick $compiler-split$version || plain $compiler -g -gdwarf-$version -gsplit-dwarf
		# No dwp takes what gcc makes of DWARF 5: docs/decisions/0016 says why.
		[ $compiler$version = gcc5 ] || ! begin quick $compiler-dwp$version || {
			plain $compiler -g -gdwarf-$version -gsplit-dwarf
			llvm-dwp -e "$out" -o "$out.dwp"
			rm "$here"/*.dwo
		}
	done
done
! begin long gcc-dwp4-binutils || {
	plain gcc -g -gdwarf-4 -gsplit-dwarf
	dwp -e "$out" -o "$out.dwp"
	rm "$here"/*.dwo
}
! begin long gcc-split-types || plain gcc -g -gdwarf-4 -gsplit-dwarf -fdebug-types-section
! begin long clang-split-types || plain clang -g -gdwarf-5 -gsplit-dwarf -fdebug-types-section
! begin long clang-split-single || plain clang -g -gdwarf-5 -gsplit-dwarf=single
! begin long clang-split-inlining || plain clang -g -gdwarf-5 -gsplit-dwarf -fsplit-dwarf-inlining
! begin quick gcc-split-gone outer || {
	plain gcc -g -gsplit-dwarf
	rm "$here"/*.dwo
}

# Shared: dwz.
! begin quick gcc-dwz || {
	plain gcc -g
	dwz "$out"
}
! begin quick gcc-dwz-alt || with_alt -g
! begin long gcc-dwz-alt-v4 || with_alt -g -gdwarf-4
! begin long gcc-dwz-alt-gone nameless || {
	with_alt -g
	rm "$here/alt.debug"
}

# Compressed.
! begin long gcc-elfcompress || {
	plain gcc -g
	eu-elfcompress -q -t gnu "$out"
}
! begin quick gcc-zlib || plain gcc -g -gz=zlib
! begin quick gcc-zlib-gnu || {
	plain gcc -g
	objcopy --compress-debug-sections=zlib-gnu "$out"
}
! begin quick gcc-zstd || {
	plain gcc -g
	objcopy --compress-debug-sections=zstd "$out"
}
! begin long clang-zstd || {
	plain clang -g
	objcopy --compress-debug-sections=zstd "$out"
}

# Elsewhere.
! begin quick gcc-link || {
	plain gcc -g
	apart "$here/.debug/marks.debug"
	objcopy --add-gnu-debuglink="$here/.debug/marks.debug" "$out"
}
! begin long gcc-link-no-id || {
	plain gcc -g -Wl,--build-id=none
	apart "$here/marks.debug"
	objcopy --add-gnu-debuglink="$here/marks.debug" "$out"
}
! begin quick gcc-build-id "debug=$dir/gcc-build-id/debug" || {
	plain gcc -g
	apart "$here/debug/.build-id/$(id_path).debug"
}
! begin long gcc-build-id-zstd "debug=$dir/gcc-build-id-zstd/debug" || {
	plain gcc -g
	debug=$here/debug/.build-id/$(id_path).debug
	apart "$debug"
	objcopy --compress-debug-sections=zstd "$debug"
}
# The link's CRC is another file's: as if there were none.
! begin long gcc-link-wrong none || {
	plain gcc -g -Wl,--build-id=none
	apart "$here/marks.debug"
	objcopy --add-gnu-debuglink="$here/marks.debug" "$out"
	echo >>"$here/marks.debug"
}
! begin long gcc-unstrip || {
	plain gcc -g
	apart "$here/debug"
	mv "$out" "$here/stripped"
	eu-unstrip "$here/stripped" "$here/debug" -o "$out"
}
! begin long clang-eu-strip "debug=$dir/clang-eu-strip/debug" || {
	plain clang -g
	debug=$here/debug/.build-id/$(id_path).debug
	mkdir -p "$(dirname "$debug")"
	eu-strip -f "$debug" "$out"
}
! begin quick gcc-mini names || minidebuginfo
! begin quick gcc-stripped none || {
	plain gcc -g
	strip "$out"
}
! begin quick gcc-debugedit from=/usr/src/moved || moved
! begin long gcc-debugedit-v4 from=/usr/src/moved || moved -gdwarf-4

# Thrown away, folded.
for linker in bfd gold lld; do
	quick=long
	[ $linker != lld ] || quick=quick
	! begin $quick gcc-gc-$linker || plain gcc -g -ffunction-sections -Wl,--gc-sections -fuse-ld=$linker
	! begin long clang-gc-$linker ||
		plain clang -g -ffunction-sections -Wl,--gc-sections -fuse-ld=$linker
	! begin long gcc-gc-v4-$linker ||
		plain gcc -g -gdwarf-4 -ffunction-sections -Wl,--gc-sections -fuse-ld=$linker
	! begin long gcc-gc-base-$linker || plain gcc -g -no-pie -fno-pie -ffunction-sections \
		-Wl,--gc-sections -fuse-ld=$linker
done
! begin quick gcc-icf folded || plain gcc -g -ffunction-sections -fuse-ld=lld -Wl,--icf=all
! begin long gcc-icf-gold folded || plain gcc -g -ffunction-sections -fuse-ld=gold -Wl,--icf=all
