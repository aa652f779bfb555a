#!/bin/sh
# to_module.sh WASM MODULE - writes a module of JavaScript that has the bytes of WASM, compressed
set -eu
{
	printf 'export const modelText = "'
	gzip -9 -n -c "$1" | base64 -w 0
	echo '";'
} >"$2"
