#!/bin/sh
# tidy.sh ROOT BUILD - clang-tidy over every C file, with the flags that BUILD compiles it with
#
# One file a process (clang-tidy 14 invents a va_list error when given several), two at a time.
# A source of a room that BUILD does not compile is a failure: nobody would look at it.
set -eu
root=$(cd "${1:?usage: tidy.sh ROOT BUILD}" && pwd)
build=${2:?usage: tidy.sh ROOT BUILD}
database=$build/compile_commands.json
[ -s "$root/.clang-tidy" ] || { echo "tidy: '$root/.clang-tidy' is missing"; exit 2; }
[ -s "$database" ] || { echo "tidy: '$database' is missing or empty"; exit 2; }
database=$(cd "$build" && pwd)/compile_commands.json
cd "$root"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$database" | sed "s|^$root/||" | grep '\.c$' |
	grep -v '^/' | sort -u >"$work/compiled" || true
[ -s "$work/compiled" ] || { echo "tidy: '$database' compiles no C file of '$root'"; exit 2; }

bad=0
for room in base sampler symbolize output flamescope tools; do
	[ ! -d "$room" ] || find "$room" -name '*.c'
done | sort >"$work/sources"
comm -23 "$work/sources" "$work/compiled" >"$work/unseen"
if [ -s "$work/unseen" ]; then
	sed 's/$/: is not compiled, so nothing checks it/' "$work/unseen"
	bad=1
fi

# clang refuses gcc's options that it does not know, even here
sed 's/ -fno-tree-loop-distribute-patterns//g' "$database" >"$work/compile_commands.json"
cat >"$work/one" <<SCRIPT
#!/bin/sh
if ! clang-tidy -p "$work" --quiet --extra-arg=-Wno-ignored-optimization-argument \\
	--extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unknown-attributes "\$1" >"$work/\$\$" 2>&1; then
	cat "$work/\$\$"
	exit 1
fi
SCRIPT
xargs -P 2 -n 1 sh "$work/one" <"$work/compiled" || bad=1
echo "tidy: $(wc -l <"$work/compiled") files"
exit $bad
