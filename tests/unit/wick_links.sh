#!/bin/sh
# wick_links.sh CC SOURCE ROOT SCRATCH - builds SOURCE in every way that a note may be linked, and runs it
set -eu
cc=$1
source=$2
root=$3
scratch=$4
mkdir -p "$scratch"
bad=0

# build_and_run NAME FLAGS... - one way to build; what the compiler or linker says is a failure
build_and_run() {
	name=$1
	shift
	if ! "$cc" -std=c99 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -I "$root" "$source" \
		-o "$scratch/$name" "$@"; then
		echo "$name: cannot be built"
		bad=1
	elif ! "$scratch/$name"; then
		echo "$name: fails"
		bad=1
	fi
}

build_and_run plain -O2
build_and_run debug -O0 -g
build_and_run pie -O2 -fPIE -pie
build_and_run fixed -O2 -fno-pie -no-pie
build_and_run static -O2 -static -DWICK_NOTE_STATIC
build_and_run static_pie -O2 -fPIE -static-pie -DWICK_NOTE_STATIC
build_and_run gc_sections -O2 -ffunction-sections -fdata-sections -Wl,--gc-sections
build_and_run lto -O2 -flto
build_and_run gold -O2 -fuse-ld=gold
build_and_run lld -O2 -fuse-ld=lld
build_and_run lld_gc -O2 -fuse-ld=lld -Wl,--gc-sections
case $("$cc" --version) in
*clang*) ;;
*) build_and_run gnu2 -O2 -fPIC -mtls-dialect=gnu2 ;;
esac

# A library of its own, loaded by a program that has wick.h too.
for dialect in gnu gnu2; do
	case $("$cc" --version)$dialect in
	*clang*gnu2) continue ;;
	*clang*) flag=-fPIC ;;
	*) flag=-mtls-dialect=$dialect ;;
	esac
	"$cc" -std=c99 -D_GNU_SOURCE -O2 -fPIC -shared "$flag" -I "$root" "$source" \
		-o "$scratch/library_$dialect.so"
	if ! "$scratch/plain" "$scratch/library_$dialect.so"; then
		echo "library, $dialect: fails"
		bad=1
	fi
done
exit $bad
