#!/bin/sh
# handler_cost.sh PEEK AGENT TARGET - ns a sample in the handler, at stacks of 10, 30 and 100
#
# Signals that look like our timers' arrive in bursts, so that what is measured is the handler and
# not the tick around it; every 8th moves the timer's next expiry (jittered).
set -eu
for depth in 10 30 100; do
	echo "depth $depth:"
	"$1" "$2" 99 timer "$3" deep "$depth" -200 |
		sed -n "s/^\(plain\|jittered\)/  \1/p"
done
