#!/bin/sh
# oracle.sh ORACLE DIR PROGRAM [OPTIONS...] - one real program under the oracle
#
# Exit status 77 when the program is not installed, else the oracle's.
set -eu
oracle=${1:?usage: oracle.sh ORACLE DIR PROGRAM [OPTIONS...]}
dir=${2:?}
program=${3:?}
shift 3
here=$(cd "$(dirname "$0")" && pwd)

need() {
	command -v "$1" > /dev/null || { echo "$program: '$1' is not installed: skipped"; exit 77; }
}

# One maker at a time: the tests of all programs may start together.
need git
mkdir -p "$dir"
flock "$dir/lock" sh "$here/workloads.sh" "$dir"

case $program in
python3)
	need /usr/bin/python3
	exec "$oracle" "$@" python3 /usr/bin/python3 "$here/workload.py"
	;;
perl)
	need /usr/bin/perl
	exec "$oracle" "$@" perl /usr/bin/perl "$here/workload.pl"
	;;
xz)
	need xz
	exec "$oracle" "$@" "xz -T2" xz -T2 -6 --block-size=1MiB -k -c "$dir/data"
	;;
cc1)
	need gcc
	cc1=$(gcc -print-prog-name=cc1)
	need "$cc1"
	exec "$oracle" "$@" cc1 "$cc1" -quiet -O2 -w "$dir/big.c" -o /dev/null
	;;
git)
	exec "$oracle" "$@" git git -C "$dir/repo" log -p --stat
	;;
redis-server)
	need redis-server
	need redis-benchmark
	socket=$dir/redis.$$
	(
		client=
		# A client whose server is gone may go on asking for ever.
		trap '[ -z "$client" ] || kill "$client"; exit 0' TERM
		while [ ! -S "$socket" ]; do sleep 0.1; done
		while :; do
			redis-benchmark -q -s "$socket" -n 20000 -c 10 \
				-t set,get,lpush,zadd,lrange_100 &
			client=$!
			wait "$client" || :
		done
	) > /dev/null 2>&1 &
	load=$!
	status=0
	"$oracle" "$@" redis-server redis-server --port 0 --unixsocket "$socket" --save '' \
		--dir "$dir" || status=$?
	kill "$load" 2> /dev/null || :
	rm -f "$socket"
	exit "$status"
	;;
node)
	need node
	exec "$oracle" "$@" node node "$here/workload.js"
	;;
ffmpeg)
	need ffmpeg
	exec "$oracle" "$@" "ffmpeg x264" ffmpeg -loglevel error -nostdin -f lavfi \
		-i testsrc2=size=1280x720:rate=30 -c:v libx264 -preset medium -threads 2 \
		-f null -
	;;
/*/clock)
	exec "$oracle" "$@" vdso "$program"
	;;
*)
	echo "oracle.sh: no program called '$program'" >&2
	exit 2
	;;
esac
