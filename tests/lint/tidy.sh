#!/bin/sh
# tidy.sh ROOT BUILD - clang-tidy over every C file, with the flags that BUILD compiles it with
#
# Not over what BUILD makes of other files: bytes of the page, as arrays.
# One file a process (clang-tidy 14 invents a va_list error when given several), two at a time.
# The analyzer follows a function's paths for 8,000 steps, and with WICK_LONG=1 for 225,000, its
# own default: that takes over ten times as long, and would be most of what ./check takes.
# A source file that BUILD does not compile is a failure: no check would read it.
set -eu
root=$(cd "${1:?usage: tidy.sh ROOT BUILD}" && pwd)
build=${2:?usage: tidy.sh ROOT BUILD}
database=$build/compile_commands.json
[ -s "$root/.clang-tidy" ] || { echo "tidy: '$root/.clang-tidy' is missing"; exit 2; }
[ -s "$database" ] || { echo "tidy: '$database' is missing or empty"; exit 2; }
build=$(cd "$build" && pwd)
database=$build/compile_commands.json
cd "$root"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$database" | sed "s|^$root/||" | grep '\.c$' |
	grep -v "^/\|^${build#"$root"/}/" >"$work/found" || true
# What is for the page alone is compiled by commands of its own, which are in no database.
find flamescope/wasm -name '*.c' >>"$work/found" 2>/dev/null || true
sort -u "$work/found" >"$work/compiled"
[ -s "$work/compiled" ] || { echo "tidy: '$database' compiles no C file of '$root'"; exit 2; }

bad=0
for folder in base sampler symbolize output flamescope tools; do
	[ ! -d "$folder" ] || find "$folder" -name '*.c'
done | sort >"$work/sources"
comm -23 "$work/sources" "$work/compiled" >"$work/unseen"
if [ -s "$work/unseen" ]; then
	sed 's/$/: is not compiled, so nothing checks it/' "$work/unseen"
	bad=1
fi

# What several targets compile is checked once, as the first of them (its own folder) compiles
# it; and clang refuses gcc's options that it does not know, even here.
python3 - "$database" "$root" "$build" >"$work/compile_commands.json" <<'PYTHON'
import glob, json, sys

root, build = sys.argv[2:]
once = {file: {"directory": build, "file": file,
               "command": f"clang --target=wasm32-wasi -std=gnu17 -D_GNU_SOURCE -I{root} -I{build} "
                          f"-include {root}/flamescope/wasm/wasi.h -c {file}"}
        for file in glob.glob(f"{root}/flamescope/wasm/*.c")}
with open(sys.argv[1]) as database:
    for entry in json.load(database):
        for option in (" -fno-tree-loop-distribute-patterns", " -fcallgraph-info=su",
                       " -mtls-dialect=gnu2", " -mtls-dialect=gnu"):
            entry["command"] = entry["command"].replace(option, "")
        once.setdefault(entry["file"], entry)
json.dump(list(once.values()), sys.stdout, indent=0)
PYTHON
steps=8000
[ "${WICK_LONG:-}" != 1 ] || steps=225000
cat >"$work/one" <<SCRIPT
#!/bin/sh
if ! clang-tidy -p "$work" --quiet --extra-arg=-Wno-ignored-optimization-argument \\
	--extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-unknown-attributes \\
	--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang \\
	--extra-arg=max-nodes=$steps "\$1" >"$work/\$\$" 2>&1; then
	cat "$work/\$\$"
	exit 1
fi
SCRIPT
# The longest first, so that neither of the two has to wait for the other at the end.
while read -r file; do
	printf '%s %s\n' "$(wc -c <"$file")" "$file"
done <"$work/compiled" | sort -rn | cut -d' ' -f2- | xargs -P 2 -n 1 sh "$work/one" || bad=1
echo "tidy: $(wc -l <"$work/compiled") files"
exit $bad
