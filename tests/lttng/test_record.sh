#!/bin/bash
# SPDX-License-Identifier: MIT
# record --backend lttng: the same calls of the same threads on the same objects as the native
# backend records; its own session daemon ends with it, and one that was there stays, without a
# session of ours, whatever ends the recording; what finds no room is told.
. "$GM_TOP/tests/lttng/common.sh"
build_here tests/lttng/programs/counted.c

record()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	as "$gprof_mt" record --set kernel.source=none "$@"
}

# Two backends, the same tables.
alike()
{
	record --backend native "$here/counted" 3 200 >out 2>err
	[ $? = 3 ] || fail "native: $(cat err)"
	tables gprof-mt.data >native
	record --backend lttng "$here/counted" 3 200 >out 2>err
	[ $? = 3 ] || fail "lttng, as $who: $(cat err)"
	! grep -q lost err || fail "lost: $(cat err)"
	tables gprof-mt.data >lttng
	[ "$(wc -l <native)" -gt 10 ] && diff native lttng ||
		fail "other tables than the native backend's, as $who"
	! ls -d gprof-mt.data/*/user 2>/dev/null || fail "native streams with the backend lttng"
	"$gprof_mt" report quality >quality 2>&1 && grep -q 'nothing lost' quality ||
		fail "quality: $(cat quality)"
}

# What is lost is counted to the last event.
losses()
{
	local all seen told
	record --backend lttng --set sync.buffer=16K "$here/counted" 0 20000 >out 2>err
	[ $? = 3 ] || fail "$(cat err)"
	all=$((6 * 20000 + 1))
	seen=$(ust_events gprof-mt.data/ust | grep -c ' result=')
	told=$(sed -n 's/^gprof-mt: \([0-9]*\) synch-events lost: .*/\1/p' err)
	[ $((seen + ${told:-0})) = $all ] || fail "$seen of $all events, ${told:-0} told: $(cat err)"
	[ -z "$told" ] || "$gprof_mt" report quality 2>&1 | grep -q "discarded at recording *$told " ||
		fail "not in quality: $("$gprof_mt" report quality)"
	echo "$who: of $all events, ${told:-0} found no room"
}

# interrupt SIGNAL: while the program runs
interrupt()
{
	recording_start gprof-mt.data
	recording_end "$1" "$recorder" gprof-mt.data
}

for person in $(people); do
	become "$person"
	alike
	until_true 30 sessiond_of_ours_is_gone || fail "a session daemon stays: $(cat list)"
	interrupt TERM
	until_true 30 sessiond_of_ours_is_gone || fail "SIGTERM leaves a session daemon: $(cat list)"
	[ "$(ust_events gprof-mt.data/ust | grep -c ' mutex_lock ')" = 20 ] || fail "SIGTERM: events missing"
	[ "$person" = user ] || continue
	losses
	interrupt KILL
	until_true 30 sessiond_of_ours_is_gone || fail "SIGKILL leaves a session daemon: $(cat list)"
	pkill -KILL -u "$(as id -u)" -x counted

	# A daemon that is there is used, and left alone.
	sessiond_start
	alike
	interrupt TERM
	as "$gprof_mt" record -q --backend lttng ./not-there 2>err
	[ $? = 127 ] || fail "no program: $(cat err)"
	as lttng list >list 2>&1 || fail "the daemon is gone"
	grep -q 'no available' list || fail "a session stays: $(cat list)"
	sessiond_stop

	# None, and none to be had: the program is not started.
	mkdir empty
	rm -rf gprof-mt.data
	as env PATH="$PWD/empty" "$gprof_mt" record --backend lttng "$here/counted" >out 2>err
	[ $? = 1 ] && grep -q 'there is no lttng-sessiond' err || fail "without a daemon: $(cat err)"
	[ ! -e gprof-mt.data ] || fail "a capture without a run"
done
rm "$here/libsync_trace_ust.so"
record --backend lttng "$here/counted" >out 2>err
[ $? = 1 ] && grep -q 'needs libsync_trace_ust.so, which is not in' err ||
	fail "without the provider: $(cat err)"
record --backend lttnk "$here/counted" >out 2>err
[ $? = 2 ] && grep -q "no backend 'lttnk'" err || fail "no such backend: $(cat err)"
