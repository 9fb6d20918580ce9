#!/bin/bash
# SPDX-License-Identifier: MIT
# A handler leaves blocking calls by siglongjmp(), in the call and at any instruction of its wrapper: the calls that
# follow are recorded, in few streams, and the thread can be cancelled as before.
. "$GM_TOP/tests/io/common.sh"
need python3

build jumps
for way in 'blocked 300' 'steps 1000' 'async 1000'; do
	# shellcheck disable=SC2086 # two words
	GPROF_MT_CONFIG=$PWD/every.conf traced timeout 300 ./jumps $way >out 2>err || fail "$way: exit status $?: $(cat err)"
	[ ! -s err ] || fail "$way: unexpected message: $(cat err)"
	n=$(sed -n 's/ jumps$//p' out)
	[ "$n" -ge 30 ] || fail "$way: expected at least 30 jumps, got $n"
	io_events >found || fail "$way: $(tail -n 3 found)"
	sleeps=$(grep -c '^usleep ' found)
	[ "$sleeps" -ge "$n" ] || fail "$way: expected $n calls after the jumps, found $sleeps"
	[ "${way% *}" != blocked ] || ! grep '^read ' found || fail "$way: a call that was left is recorded"
	streams=$(find gprof-mt.data -name 'stream_*' | grep -vc '_[0-9]*_[0-9]*$')
	[ "$streams" -le 4 ] || fail "$way: expected at most 4 streams, found $streams"
	"$gprof_mt" report --format csv quality >quality 2>&1 || fail "$way: report: $(cat quality)"
	lost=$(grep 'synch-events' quality | awk -F, '{ n += $(NF - 1) } END { print n + 0 }')
	[ "$lost" -le "$n" ] || fail "$way: $lost events are lost in $n jumps"
	[ "${way% *}" != blocked ] || [ "$lost" -eq 0 ] || fail "$way: events are lost: $(cat quality)"
	echo "$way: $n jumps, $sleeps calls after them, $streams streams, $lost lost"
done
