#!/bin/sh
# handler_cost.sh PEEK AGENT TARGET - ns a sample in the handler, at stacks of 10, 30 and 100
#
# Signals that look like our timers' arrive in bursts, so that what is measured is the handler and
# not the tick around it; every 8th moves the timer's next expiry (jittered).
set -eu
around=6 # frames of main(), libc and the benchmark itself
for depth in 10 30 100; do
	"$1" "$2" 99 timer "$3" deep $((depth - around)) -200 |
		sed -n -e 's/^\(plain\|jittered\)/  \1/p' \
			-e 's|^  pcs/sample \([0-9.]*\) .*|  a stack of \1|p'
done
