#!/bin/bash
# SPDX-License-Identifier: MIT
# The releases of contended spin locks, and the ends of threads that are joined, record the calls that led to them.
. "$GM_TOP/tests/sync/common.sh"
need jq

# paths FUNCTION: prints the call paths to it, within the program
paths()
{
	"$gprof_mt" report --format json paths | jq -r --arg f "$1" '.paths[] | select(.function == $f) | .path' |
		sed -E 's/ < (start_thread|__libc_start_call_main|0x).*//' | sort
}

# 0 needs no unit
for mode in all contended; do
	printf '[sync]\nmode = %s\npaths = 0\n' $mode >$mode.conf
done
for flags in -fno-omit-frame-pointer "-O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fno-ipa-icf"; do
	# shellcheck disable=SC2086 # words
	build path_of_ends $flags
	for mode in all contended; do
		GPROF_MT_CONFIG=$PWD/$mode.conf traced ./path_of_ends >out 2>err
		same "exit status" 9 $?
		events >events
		no_complaint
		same "$mode: spin_lock" "spin_take < spins" "$(paths pthread_spin_lock)"
		same "$mode: spin_unlock" "spin_release < test_spin < main" "$(paths pthread_spin_unlock)"
		same "$mode: ends of threads" "await_cond < cancelled
await_sem < cancelled
await_thread < cancelled
leave < exits
leave_c11 < exits_c11
returns" "$(paths thread_exit | sed '/^spins$/d')"
	done
done
echo "paths: ok"

# No thread that ends without a join that waits has a row; a capture without paths has none at all.
printf '[sync]\nmode = all\npaths = off\n' >off.conf
GPROF_MT_CONFIG=$PWD/off.conf traced ./path_of_ends >out 2>err
same "exit status" 9 $?
events >events
expect 0 ' (path|call_path) '
