#!/bin/sh
# layers.sh ROOT - every #include is one that tests/lint/layers.txt allows
#
# A layer's files may include the layer itself, what its line allows, and the system's headers.
# A file in a folder that has no line, and a path that leads into no folder, are failures too.  The
# headers that are installed include each other by their names.
set -eu
root=${1:?usage: layers.sh ROOT}
cd "$root"
layers=tests/lint/layers.txt
[ -s "$layers" ] || { echo "layers: '$layers' is missing or empty"; exit 2; }

folders=$(awk '!/^#/ && NF { sub(/[\/:].*/, "", $1); print $1 }' "$layers" | sort -u)
present=
for folder in $folders; do
	[ ! -d "$folder" ] || present="$present $folder"
done
[ -n "$present" ] || { echo "layers: none of the folders in '$layers' exists"; exit 2; }

# shellcheck disable=SC2086 # the folders are words
files=$(find $present -type f \( -name '*.c' -o -name '*.h' -o -name '*.S' -o -name '*.cc' \) | sort)
[ -n "$files" ] || { echo "layers: the folders hold no source files"; exit 2; }

# shellcheck disable=SC2086 # the names have no blanks
awk -v layers="$layers" '
function layer_of(path,    folder) {
	folder = path
	while (sub(/\/[^\/]*$/, "", folder))
		if (folder in allowed)
			return folder
	return ""
}
function tell(text) {
	print FILENAME ":" FNR ": " text
	bad = 1
}
FILENAME == layers {
	if ($0 ~ /^#/ || !NF)
		next
	name = $1
	sub(/:$/, "", name)
	allowed[name] = " "
	for (i = 2; i <= NF; i++)
		allowed[name] = allowed[name] $i " "
	next
}
FNR == 1 {
	layer = layer_of(FILENAME)
	if (layer == "")
		tell("lies in a folder that " layers " does not name")
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
	split($0, part, "\"")
	if (layer == "sampler/include" && part[2] !~ /\//)
		next
	other = layer_of(part[2])
	if (other == "")
		tell("includes \"" part[2] "\", which is no path from the root into a folder")
	else if (other != layer && index(allowed[layer], " " other " ") == 0)
		tell(layer " may not include " other " (\"" part[2] "\")")
	checked++
}
END {
	if (!checked) {
		print "layers: no #include \"...\" was found at all"
		exit 2
	}
	exit bad
}' "$layers" $files
