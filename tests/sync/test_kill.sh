#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that is killed at any instant, while packets and files grow and shrink, leaves a readable trace.
. "$GM_TOP/tests/sync/common.sh"

build kill
printf '[sync]\nmode = all\nbuffer = 16K\n' >gprof-mt.conf # many packets in a short time
for i in 1 2 3 4 5 6 7 8; do
	rm -rf gprof-mt.data gprof-mt.data.old out
	LD_PRELOAD=$libsync ./kill >out &
	pid=$!
	until grep -q going out 2>/dev/null; do
		kill -0 $pid 2>/dev/null || fail "the program ended by itself"
	done
	sleep "0.0$((RANDOM % 90 + 10))"
	kill -KILL $pid || fail "the program ended by itself"
	wait $pid 2>/dev/null
	[ $? -eq 137 ] || fail "the program did not die of SIGKILL"
	babeltrace2 -o dummy gprof-mt.data/*/user 2>babeltrace.err || fail "unreadable (try $i)"
	[ ! -s babeltrace.err ] || { cat babeltrace.err; fail "babeltrace2 warned (try $i)"; }
	babeltrace2 gprof-mt.data/*/user 2>/dev/null | head -n 1000 | grep -q ' mutex_lock: ' ||
		fail "no event survived (try $i)"
done
