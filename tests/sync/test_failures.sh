#!/bin/bash
# SPDX-License-Identifier: MIT
# Nowhere to write, a full disk, limits on files, recording switched off: the program does what it
# does, and what is lost is counted.
. "$GM_TOP/tests/sync/common.sh"

build steady
mkdir work

# run N [SETUP]: the program in ./work, after SETUP in its shell
run()
{
	(
		cd work || exit
		eval "${2:-}"
		LD_PRELOAD=$libsync exec ../steady "$1"
	) >out 2>err
	[ $? -eq 33 ] || { cat err; fail "the program fails after: ${2:-}"; }
	[ "$(cat out)" = $(($1 * 3)) ] || fail "it computes $(cat out) after: ${2:-}"
}

# lost: the sum of events_lost in the thread table, in the header and in each slot
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

# one_line WORD: stderr is one line of ours that has the word
one_line()
{
	[ "$(wc -l <err)" -eq 1 ] && grep -q "^gprof-mt: .*$1" err || { cat err; fail "not one line about $1"; }
}

printf '[output]\ndir = /proc/nowhere/capture\n' >work/gprof-mt.conf
run 1000
one_line /proc/nowhere/capture

printf '[sync]\nmode = off\n' >work/gprof-mt.conf
run 1000
[ ! -s err ] || fail "words about recording that was switched off"
[ -z "$(find work/gprof-mt.data -name user 2>/dev/null)" ] || fail "mode = off records"
rm -rf work/gprof-mt.conf work/gprof-mt.data*

# Files of at most 40 KiB, which is what the thread table has: more of them, and no SIGXFSZ.
run 20000 "ulimit -f 40"
events work/gprof-mt.data/*/user >events
no_complaint
seen=$(grep -Ec ' mutex_(un)?lock ' events)
[ "$seen" -eq 120000 ] || fail "$seen events of 120000 in files of at most 40 KiB"
rm -rf work/gprof-mt.data*

# No descriptor free once the program runs: we use none of its table, so nothing is lost.  (How many
# locks are waited for, and so have a begin, is another number in each run.)
run 1000
events work/gprof-mt.data/*/user >events
n_events=$(grep -Evc ' (site|path|call_path) |_begin ' events)
rm -rf work/gprof-mt.data*
run 1000 "ulimit -n 4"
events work/gprof-mt.data/*/user >events
n_then=$(grep -Evc ' (site|path|call_path) |_begin ' events)
n_lost=$(lost work/gprof-mt.data/*/threads)
[ "$n_events" -gt 6000 ] && [ "$n_then" -eq "$n_events" ] && [ "$n_lost" -eq 0 ] ||
	fail "$n_then events of $n_events, $n_lost lost"
rm -rf work/gprof-mt.data*

[ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=400k none work 2>/dev/null ||
	{ echo "not root: no full disk"; exit 0; }
trap 'umount work' EXIT
run 200000
events work/gprof-mt.data/*/user >events
grep -q 'babeltrace2 failed' events && fail "the trace on a full disk is unreadable: $(cat babeltrace.err)"
seen=$(grep -Ec ' mutex_(un)?lock ' events)
[ "$seen" -gt 0 ] || fail "nothing was recorded before the disk was full"
[ "$(lost work/gprof-mt.data/*/threads)" -ge $((1200000 - seen)) ] ||
	fail "$(lost work/gprof-mt.data/*/threads) events are said to be lost, of 1200000 only $seen are there"
rm -rf work/gprof-mt.data*

# Room for the thread table, and none for a trace: every event counts as lost.
mount -o remount,size=56k work
run 1000
one_line 'cannot record synchronization'
n_lost=$(lost work/gprof-mt.data/*/threads)
[ "$n_lost" -ge 6000 ] || fail "$n_lost events are said to be lost of a trace that could not be made"
