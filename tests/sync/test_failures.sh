#!/bin/bash
# SPDX-License-Identifier: MIT
# No capture directory, a full disk, file size limits, recording turned off: the program's behavior does not
# change, and lost events are counted.
. "$GM_TOP/tests/sync/common.sh"

build steady
mkdir work

# run N [SETUP]: runs the program in ./work, after SETUP in its shell
run()
{
	(
		cd work || exit
		eval "${2:-}"
		LD_PRELOAD=$libsync exec ../steady "$1"
	) >out 2>err
	[ $? -eq 33 ] || { cat err; fail "the program fails after: ${2:-}"; }
	[ "$(cat out)" = $(($1 * 3)) ] || fail "expected the result $(($1 * 3)), got $(cat out) after: ${2:-}"
}

# lost: prints the sum of events_lost in the thread table, in the header and in each slot
lost()
{
	local table=$1 n header
	n=$(od -A n -t u4 -j 20 -N 4 "$table")
	header=$(od -A n -t u8 -j 64 -N 8 "$table")
	for ((i = 0; i < n; i++)); do
		header=$((header + $(od -A n -t u8 -j $((8192 + 128 * i + 56)) -N 8 "$table")))
	done
	echo $header
}

# one_line WORD: stderr is one line of gprof-mt that contains WORD
one_line()
{
	[ "$(wc -l <err)" -eq 1 ] && grep -q "^gprof-mt: .*$1" err || { cat err; fail "expected one line about $1"; }
}

printf '[output]\ndir = /proc/nowhere/capture\n' >work/gprof-mt.conf
run 1000
one_line /proc/nowhere/capture

printf '[sync]\nmode = off\n' >work/gprof-mt.conf
run 1000
[ ! -s err ] || fail "unexpected message with mode = off"
[ -z "$(find work/gprof-mt.data -name user 2>/dev/null)" ] || fail "expected no events with mode = off"
rm -rf work/gprof-mt.conf work/gprof-mt.data*

# Files of at most 40 KiB, the size of the thread table: more files, and no SIGXFSZ.
run 20000 "ulimit -f 40"
events work/gprof-mt.data/*/user >events
no_complaint
seen=$(grep -Ec ' mutex_(un)?lock ' events)
[ "$seen" -eq 120000 ] || fail "expected 120000 events in files of at most 40 KiB, got $seen"
rm -rf work/gprof-mt.data*

# The program has no free descriptor: the library uses none of its table, so that nothing is lost. (The number
# of contended locks, which have a begin event, differs between runs.)
run 1000
events work/gprof-mt.data/*/user >events
n_events=$(grep -Evc ' (site|path|call_path|io_call) |_begin ' events)
rm -rf work/gprof-mt.data*
run 1000 "ulimit -n 4"
events work/gprof-mt.data/*/user >events
n_then=$(grep -Evc ' (site|path|call_path|io_call) |_begin ' events)
n_lost=$(lost work/gprof-mt.data/*/threads)
[ "$n_events" -gt 6000 ] && [ "$n_then" -eq "$n_events" ] && [ "$n_lost" -eq 0 ] ||
	fail "expected $n_events events, got $n_then and $n_lost lost"
rm -rf work/gprof-mt.data*

[ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=400k none work 2>/dev/null ||
	{ echo "not root: the checks with a full disk are skipped"; exit 0; }
trap 'umount work' EXIT
run 200000
events work/gprof-mt.data/*/user >events
grep -q 'babeltrace2 failed' events && fail "the trace on a full disk is unreadable: $(cat babeltrace.err)"
seen=$(grep -Ec ' mutex_(un)?lock ' events)
[ "$seen" -gt 0 ] || fail "nothing was recorded before the disk was full"
[ "$(lost work/gprof-mt.data/*/threads)" -ge $((1200000 - seen)) ] ||
	fail "$(lost work/gprof-mt.data/*/threads) events are said to be lost, of 1200000 only $seen are there"
rm -rf work/gprof-mt.data*

# Space for the thread table, but none for a trace: every event counts as lost.
mount -o remount,size=56k work
run 1000
one_line 'cannot record synchronization'
n_lost=$(lost work/gprof-mt.data/*/threads)
[ "$n_lost" -ge 6000 ] || fail "expected at least 6000 lost events without a trace, got $n_lost"
