#!/bin/sh
# to_module.sh WASM MODULE - writes a module of JavaScript that has the bytes of WASM, compressed
set -eu
{
	echo 'import { fromBase64, inflate } from "wick/bytes.js";'
	printf 'export const modelBytes = () => inflate(fromBase64("'
	gzip -9 -n -c "$1" | base64 -w 0
	echo '"));'
} >"$2"
