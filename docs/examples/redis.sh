#!/bin/sh
# redis.sh - a few seconds of a real, multi-threaded server under load: something to record
#
# Starts redis-server with two I/O threads on a socket and in a directory of its own, puts
# redis-benchmark on it for some SECONDS (4), and stops it.  Nothing listens on the network and
# nothing is saved.
set -eu
seconds=${1:-4}
work=$(mktemp -d)
server=$(command -v redis-server) || {
	# Debian's redis-tools brings the server's binary under another name; it goes by argv[0].
	server=$work/redis-server
	ln -s "$(command -v redis-check-rdb)" "$server"
}

"$server" --port 0 --unixsocket "$work/socket" --save '' --io-threads 2 >"$work/log" &
pid=$!
trap 'kill "$pid" 2>/dev/null || true; wait "$pid" || true; rm -rf "$work"' EXIT
tries=100
until redis-cli -s "$work/socket" ping >/dev/null 2>&1; do
	tries=$((tries - 1))
	[ $tries -gt 0 ] || { cat "$work/log"; exit 1; }
	sleep 0.05
done
end=$(($(date +%s) + seconds))
rounds=0
# One round at least: the clock's second may be over at once.
while [ "$rounds" -eq 0 ] || [ "$(date +%s)" -lt "$end" ]; do
	redis-benchmark -s "$work/socket" --threads 2 -q -n 3000 -t set,lpush,lrange_100,zadd,mset >/dev/null
	rounds=$((rounds + 1))
done
echo "redis.sh: $rounds rounds of 18,000 requests"
redis-cli -s "$work/socket" shutdown nosave
