#!/bin/sh
# blocked.sh ORACLE PROGRAM - the threads of one real program that are blocked, under the oracle
#
# 5,000 stacks of it with WICK_LONG=1, at most 5 % skipped; else 300, where a thread that stays
# long in one place that cannot be left counts for more: at most 10 %.  BLOCKED_SEED chooses others.
# A PROGRAM with a slash is run as it is; the others are started here, with a client that keeps them
# busy.  Exit status 77 when it is not installed, else the oracle's.
set -eu
oracle=${1:?usage: blocked.sh ORACLE PROGRAM}
program=${2:?}
here=$(cd "$(dirname "$0")" && pwd)
n=300 skipped=10
[ "${WICK_LONG:-}" != 1 ] || n=5000 skipped=5
load=
work=

watch() {
	"$oracle" -n "$n" -k "$skipped" -s "${BLOCKED_SEED:-1}" "$@"
}

need() {
	command -v "$1" >/dev/null || { echo "$program: '$1' is not installed: skipped"; exit 77; }
}

clean() {
	[ -z "$load" ] || kill "$load" 2>/dev/null || :
	[ -z "$work" ] || rm -rf "$work"
}
trap clean EXIT

# A directory of its own, with a short name: sockets are in it.
make_work() {
	work=$(mktemp -d "${TMPDIR:-/tmp}/blocked.XXXXXX")
}

case $program in
*/*)
	watch "$(basename "$program")" "$program"
	;;
python3)
	need /usr/bin/python3
	watch python3 /usr/bin/python3 "$here/blocked.py"
	;;
node)
	need node
	watch node node "$here/blocked.js"
	;;
redis-server)
	need redis-server
	need redis-cli
	make_work
	# Seldom enough to find it blocked.
	(
		while [ ! -S "$work/s" ]; do sleep 0.1; done
		exec redis-cli -s "$work/s" -r -1 -i 0.001 lpush list 1 2 3
	) >/dev/null 2>&1 &
	load=$!
	watch redis-server redis-server --port 0 --unixsocket "$work/s" --save '' \
		--dir "$work"
	;;
nginx)
	need nginx
	need curl
	make_work
	cat >"$work/nginx.conf" <<-CONF
		daemon off;
		worker_processes 2;
		pid $work/pid;
		error_log /dev/null;
		events { worker_connections 64; }
		http {
			access_log off;
			client_body_temp_path $work/a;
			proxy_temp_path $work/b;
			fastcgi_temp_path $work/c;
			uwsgi_temp_path $work/d;
			scgi_temp_path $work/e;
			server { listen unix:$work/s; location / { return 200 "x"; } }
		}
	CONF
	chmod 755 "$work"
	(
		while :; do
			curl -s -o /dev/null --unix-socket "$work/s" http://x/ || :
			sleep 0.01
		done
	) >/dev/null 2>&1 &
	load=$!
	watch nginx nginx -p "$work" -c "$work/nginx.conf" -e stderr
	;;
postgres)
	bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
	need "${bin:-/}/postgres"
	need "$bin/pgbench"
	make_work
	as=
	# It refuses to be root.
	if [ "$(id -u)" = 0 ]; then
		as="setpriv --reuid nobody --regid nogroup --clear-groups"
		chown nobody:nogroup "$work"
	fi
	$as "$bin/initdb" -D "$work/db" -A trust -U wick --no-sync >/dev/null
	(
		while ! $as "$bin/createdb" -U wick -h "$work" b; do sleep 0.1; done
		$as "$bin/pgbench" -U wick -i -q -h "$work" b
		exec $as "$bin/pgbench" -U wick -c 4 -T 600 -R 500 -h "$work" b
	) >/dev/null 2>&1 &
	load=$!
	watch postgres $as "$bin/postgres" -D "$work/db" -k "$work" \
		-c listen_addresses= -c fsync=off
	;;
*)
	echo "blocked.sh: no program called '$program'" >&2
	exit 2
	;;
esac
