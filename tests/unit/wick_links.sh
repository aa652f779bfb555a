#!/bin/sh
# wick_links.sh CC SOURCE ROOT SCRATCH - links SOURCE in every way that a note may be, and runs it
set -eu
cc=$1
source=$2
root=$3
scratch=$4
mkdir -p "$scratch"
bad=0

# compile NAME FLAGS... - one object; what the compiler says is a failure
compile() {
	name=$1
	shift
	"$cc" -std=c99 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -I "$root" -c "$source" \
		-o "$scratch/$name.o" "$@"
}

# link_and_run NAME OBJECT FLAGS...
link_and_run() {
	name=$1
	object=$2
	shift 2
	if ! "$cc" "$scratch/$object.o" -o "$scratch/$name" "$@" || ! "$scratch/$name"; then
		echo "$name: cannot be linked, or fails"
		bad=1
	fi
}

compile pic -O1 -fPIC -ffunction-sections -fdata-sections
compile fixed -O0 -fno-pie
compile static -O1 -fPIE -DWICK_NOTE_STATIC
compile lto -O2 -flto
link_and_run pie pic -pie
link_and_run fixed fixed -no-pie
link_and_run static static -static
link_and_run static_pie static -static-pie
link_and_run gc_sections pic -Wl,--gc-sections
link_and_run lto lto -O2 -flto
link_and_run gold pic -fuse-ld=gold
link_and_run lld pic -fuse-ld=lld
link_and_run lld_gc pic -fuse-ld=lld -Wl,--gc-sections
objects=pic
case $("$cc" --version) in
*clang*) ;;
*)
	compile gnu2 -O1 -fPIC -mtls-dialect=gnu2
	link_and_run gnu2 gnu2 -pie
	objects="pic gnu2"
	;;
esac

# A library of its own, loaded by a program that has wick.h too.
for object in $objects; do
	"$cc" -shared "$scratch/$object.o" -o "$scratch/library_$object.so"
	if ! "$scratch/pie" "$scratch/library_$object.so"; then
		echo "library, $object: fails"
		bad=1
	fi
done
exit $bad
