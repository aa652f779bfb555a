#!/bin/sh
# handler_cost.sh PEEK AGENT TARGET - ns a sample in the handler, at stacks of 10, 30 and 100, and
# with a context of 41 bytes of attributes
#
# Signals that look like our timers' arrive in bursts, so that what is measured is the handler and
# not the tick around it; every 8th moves the timer's next expiry (jittered).
set -eu
around=6 # frames of main(), libc and the benchmark itself
offset=$("$3" offset)
for depth in 10 30 100; do
	for context in "" "$offset,1" "$offset,0"; do
		case $context in
		*,1) echo "  with a context that stays (wick.h's):" ;;
		*,0) echo "  with one that is probed for each sample (other writers'):" ;;
		esac
		PEEK_CONTEXT=$context "$1" "$2" 99 timer "$3" deep $((depth - around)) -200 |
			sed -n -e 's/^\(plain\|jittered\)/  \1/p' \
				-e 's|^  pcs/sample \([0-9.]*\) .*|  a stack of \1|p'
	done
done
