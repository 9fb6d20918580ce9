#!/bin/bash
# SPDX-License-Identifier: MIT
# With libgmon_mt.so in the same program: one thread table, and both libraries use the same indexes.
. "$GM_TOP/tests/sync/common.sh"
[ -e "$GM_BUILD/libgmon_mt.so" ] || skip "libgmon_mt.so is not built"

build steady -pg
for preload in "$GM_BUILD/libgmon_mt.so $libsync" "$libsync $GM_BUILD/libgmon_mt.so"; do
	rm -rf gprof-mt.data gprof-mt.data.old
	LD_PRELOAD=$preload ./steady 500 >out
	[ $? -eq 33 ] && [ "$(cat out)" = 1500 ] || fail "the program's result changes with $preload"
	events >events
	no_complaint
	expect 1500 ' mutex_lock result=0 '
	table=$(echo gprof-mt.data/*/threads)
	[ "$(od -A n -t u4 -j 20 -N 4 "$table")" -eq 4 ] || fail "expected one slot for each of 4 threads"
	awk '{ print $1, $2 }' events | sort -u >seen
	for ((i = 0; i < 4; i++)); do
		echo "$i $(($(od -A n -t u4 -j $((8192 + 128 * i + 4)) -N 4 "$table")))"
	done | sort >slots
	diff slots seen || fail "events and thread table have different threads"
	python3 "$GM_TOP/tests/gmon/programs/calls.py" --threads gprof-mt.data/*/ | sort >counted
	diff slots counted || fail "call counts and thread table have different threads"
done
