#!/bin/bash
# SPDX-License-Identifier: MIT
# The sink LTTng-UST: sink = both writes each event of each thread twice, identically and in the same order,
# also in forked children; sink = lttng writes it only to LTTng. LTTng's own locks and threads are not
# recorded; without a session or the provider the program behaves the same.
. "$GM_TOP/tests/lttng/common.sh"
build_here tests/sync/programs/all.c
build_here tests/sync/programs/raise.c
build_here tests/lttng/programs/children.c
build_here tests/lttng/programs/counted.c

# run SINK COMMAND...: into a new capture, with sync.mode = $mode
mode=all
run()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	printf '[sync]\nsink = %s\nmode = %s\n' "$1" $mode >config
	as env GPROF_MT_CONFIG=config LD_PRELOAD="$libsync" "${@:2}" >out 2>err
}

# each_thread FILE: sorts by thread, keeping the order within each
each_thread()
{
	sort -s -n -k 1,1 "$1"
}

# alike NAME STATUS EVENTS COMMAND...: both sinks have the same events among those that match
alike()
{
	local name=$1 status=$2 events=$3
	session_start "$name" "$PWD/$name"
	run both "${@:4}"
	[ $? = "$status" ] || fail "$name: exit status; $(cat err)"
	[ ! -s err ] || [ "$status" -gt 128 ] || fail "$name: unexpected message: $(cat err)"
	session_stop "$name"
	"$gprof_mt" report quality >quality 2>&1 || fail "$name: report: $(cat quality)"
	grep -q 'nothing lost' quality || fail "$name: $(cat quality)"
	native_events gprof-mt.data | grep -E "$events" >native
	ust_events "$name" | grep -E "$events" >ust
	[ "$(wc -l <native)" -gt 3 ] || fail "$name: nothing recorded: $(cat native)"
	diff <(each_thread native) <(each_thread ust) >differences ||
		fail "$name, as $who: $(wc -l <native) events natively, $(wc -l <ust) in LTTng: \
$(head -n 40 differences)"
}

# The events that all.c has equally often in every run.
n_done()
{
	grep -Ec ' (mutex_lock|mutex_unlock|sem_post|barrier_wait|thread_start|thread_exit) '
}

only_lttng()
{
	session_start only "$PWD/only"
	run lttng "$here/all"
	[ $? = 42 ] || fail "exit status; $(cat err)"
	session_stop only
	! ls -d gprof-mt.data/*/user 2>/dev/null || fail "unexpected native streams with sink = lttng"
	[ "$(ust_events only | n_done)" = "$n" ] ||
		fail "expected $n events with sink = lttng, got $(ust_events only | n_done)"
	grep -q "$here/all$" gprof-mt.data/*/maps || fail "no maps: $(cat gprof-mt.data/*/maps)"
}

for person in $(people); do
	become "$person"
	sessiond_start
	alike all 42 . "$here/all"
	n=$(n_done <native)
	only_lttng
	alike children 0 . "$here/children"
	# A thread is cancelled during a post that LTTng has already recorded.
	alike raise 143 ' signal_| thread_[ckf]| thread_sig' "$here/raise"
	sessiond_stop
done
echo "alike: ok"

# No session.
for sink in lttng both; do
	run $sink "$here/all"
	[ $? = 42 ] && [ ! -s err ] || fail "$sink without a session: $(cat err)"
done

# Operations that are only counted are also the program's only: two threads lock, one after the other.
mode=contended
for sink in native lttng both; do
	run $sink "$here/counted" 1 200
	[ $? = 3 ] || fail "$sink, contended: exit status; $(cat err)"
	n_locks=$("$gprof_mt" report --format json sync |
		jq '[.sync[] | select(.function == "pthread_mutex_lock") | .calls] | add')
	[ "$n_locks" = 400 ] || fail "$sink, contended: expected 400 locks, got $n_locks"
done
mode=all
echo "counted: ok"

# The provider is missing: one message; lost events are counted, and the native sink continues.
rm "$here/libsync_trace_ust.so"
run lttng "$here/all"
[ $? = 42 ] || fail "exit status"
[ "$(wc -l <err)" = 1 ] && grep -q 'libsync_trace_ust.so.*; synchronization is not recorded$' err ||
	fail "without the provider: $(cat err)"
"$gprof_mt" report quality >quality 2>&1
grep -q 'synch-events not written' quality || fail "no row about the losses: $(cat quality)"
run both "$here/all"
[ $? = 42 ] || fail "exit status"
[ "$(wc -l <err)" = 1 ] && grep -q '; synchronization is recorded only natively$' err ||
	fail "without the provider: $(cat err)"
[ "$(native_events gprof-mt.data | n_done)" = "$n" ] || fail "the native sink did not continue"
