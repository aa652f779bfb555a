#!/bin/sh
# to_module.sh WASM MODULE - writes a module of JavaScript that has the bytes of WASM
set -eu
{
	echo 'import { fromBase64 } from "wick/bytes.js";'
	printf 'export const modelBytes = () => fromBase64("'
	base64 -w 0 "$1"
	echo '");'
} >"$2"
