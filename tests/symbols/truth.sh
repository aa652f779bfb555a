#!/bin/sh
# truth.sh SYMBOLIZE_ADDRS DIR - builds the variants in DIR and has truth.py look at them
set -eu
addrs=${1:?usage: truth.sh SYMBOLIZE_ADDRS DIR}
dir=${2:?usage: truth.sh SYMBOLIZE_ADDRS DIR}
here=$(dirname "$0")
form=quick
[ -z "${WICK_LONG-}" ] || form=all
bash "$here/variants.sh" "$dir" $form
exec /usr/bin/python3 -B "$here/truth.py" --addrs "$addrs" --list "$dir/list"
