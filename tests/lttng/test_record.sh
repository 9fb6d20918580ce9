#!/bin/bash
# SPDX-License-Identifier: MIT
# record --backend lttng: the same calls of the same threads on the same objects as the native
# backend records.  A session daemon that it starts keeps running, without a session of ours and
# without anything of the recording, and serves the next one; a daemon that runs already stays as it
# is.  Events that find no room are counted.
. "$GM_TOP/tests/lttng/common.sh"
build_here tests/lttng/programs/counted.c
build_here tests/record/programs/without_call.c
close_range=436

record()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	as "$gprof_mt" record --set kernel.source=none "$@"
}

# Both backends give the same tables.
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
		fail "the tables differ from those of the native backend, as $who"
	! ls -d gprof-mt.data/*/user 2>/dev/null || fail "unexpected native streams with the backend lttng"
	"$gprof_mt" report quality >quality 2>&1 && grep -q 'nothing lost' quality ||
		fail "quality: $(cat quality)"
}

# Every lost event is counted.
losses()
{
	local all seen told
	record --backend lttng --set sync.buffer=16K "$here/counted" 0 20000 >out 2>err
	[ $? = 3 ] || fail "$(cat err)"
	all=$((6 * 20000 + 1))
	seen=$(ust_events gprof-mt.data/ust | grep -c ' result=')
	told=$(sed -n 's/^gprof-mt: \([0-9]*\) synch-events lost: .*/\1/p' err)
	[ $((seen + ${told:-0})) = $all ] || fail "expected $all events, got $seen and ${told:-0} reported as lost: $(cat err)"
	[ -z "$told" ] || "$gprof_mt" report quality 2>&1 | grep -q "discarded during recording *$told " ||
		fail "no row in quality: $("$gprof_mt" report quality)"
	echo "$who: of $all events, ${told:-0} found no room"
}

# interrupt SIGNAL: while the program runs
interrupt()
{
	recording_start gprof-mt.data
	recording_end "$1" "$recorder" gprof-mt.data
}

# one_daemon PID: it runs, it is the only one, and has no session
one_daemon()
{
	[ "$(sessiond_pid)" = "$1" ] && [ "$(sessions)" = "" ] || fail "as $who: sessions: $(cat list)"
	[ -z "${GM_ALONE:-}" ] || [ "$(pgrep -c -P 1 -x lttng-sessiond)" = 1 ] ||
		fail "as $who: more than one daemon: $(pgrep -a lttng-sessiond)"
}

# A descriptor may be closed while ls reads it.
has_closed()
{
	as ls -l "/proc/$1/fd" >open 2>/dev/null
	[ -s open ] || fail "no descriptors of $1"
	! grep -F "$PWD" open | grep -v /.lttng/ >list
}

# The processes of the daemon PID have nothing of the recording.
clean_daemon()
{
	local pid
	for pid in "$1" $(pgrep -P "$1"); do
		[ "$(as readlink "/proc/$pid/cwd")" = / ] || fail "$pid runs in $(as readlink "/proc/$pid/cwd")"
		# A session is destroyed after its recording has ended.
		until_true 60 has_closed "$pid" || fail "$pid has open: $(cat list)"
		! as cat "/proc/$pid/environ" | tr '\0' '\n' | grep -E '^(LD_PRELOAD|GPROF_MT_)' ||
			fail "$pid has the recording's environment"
		[ "$(as ps -o sid= -p "$pid" | tr -d ' ')" != "$(ps -o sid= -p $$ | tr -d ' ')" ] ||
			fail "$pid is in the session of the terminal"
	done
}

for person in $(people); do
	become "$person"
	# The first starts a daemon.  It is a recorded program itself, and its output is a pipe, which ends.
	as timeout 120 "$gprof_mt" record -o outer --set kernel.source=none -- \
		"$gprof_mt" record -o inner --set kernel.source=none --backend lttng "$here/counted" 1 10 2>&1 |
		timeout 120 cat >out
	[ "${PIPESTATUS[*]}" = "3 0" ] || fail "as $who: exit status ${PIPESTATUS[*]}: $(cat out)"
	grep -q 'session daemon was started and keeps running' out || fail "not told: $(cat out)"
	daemon=$(sessiond_pid)
	one_daemon "$daemon"
	clean_daemon "$daemon"

	alike
	! grep -q 'session daemon' err || fail "as $who: a second daemon: $(cat err)"
	interrupt TERM
	[ "$(ust_events gprof-mt.data/ust | grep -c ' mutex_lock ')" = 20 ] || fail "SIGTERM: events missing"
	as "$gprof_mt" record -q --backend lttng ./not-there 2>err
	[ $? = 127 ] || fail "no program: $(cat err)"
	[ "$person" = root ] || losses
	one_daemon "$daemon"
	clean_daemon "$daemon"
	sessiond_stop

	# A kernel without close_range(): the daemon has no descriptor of the recording either.
	exec 17<.
	as "$here/without_call" $close_range 38 "$gprof_mt" record -q -o old --set kernel.source=none \
		--backend lttng "$here/counted" 1 10 2>err
	[ $? = 3 ] || fail "without close_range, as $who: $(cat err)"
	exec 17<&-
	clean_daemon "$(sessiond_pid)"
	sessiond_stop
	[ "$person" = user ] || continue

	# A daemon that runs is used, and left as it is, with the sessions of its user.
	sessiond_start
	daemon=$(sessiond_pid)
	session_start by-hand "$PWD/by-hand"
	alike
	[ "$(sessions)" = by-hand ] && [ "$(sessiond_pid)" = "$daemon" ] || fail "the session daemon was replaced, or a session is left: $(cat list)"
	session_stop by-hand
	n=$(ust_events by-hand | grep -c ' mutex_lock ')
	[ "$n" = 800 ] || fail "the session of the user has $n of 800 locks"

	# The daemon has no kernel tracer: record uses another source, and says so.
	as "$gprof_mt" record --set kernel.source=lttng "$here/counted" 1 10 >out 2>err
	[ $? = 3 ] && grep -q "kernel events: LTTng's kernel tracer: the session daemon that runs is not root's" err || fail "no kernel tracer: $(cat err)"
	[ "$(jq -r .kernel.source gprof-mt.data/info.json)" != lttng ] || fail "lttng is stated as source without a kernel tracer"
	[ "$(sessions)" = "" ] || fail "a session is left: $(cat list)"
	sessiond_stop

	# There is no daemon and no lttng-sessiond: the program is not started.
	mkdir empty
	rm -rf gprof-mt.data
	as env PATH="$PWD/empty" "$gprof_mt" record --backend lttng "$here/counted" >out 2>err
	[ $? = 1 ] && grep -q 'there is no lttng-sessiond' err || fail "without a daemon: $(cat err)"
	[ ! -e gprof-mt.data ] || fail "a capture without a run"
	as "$gprof_mt" record --set kernel.source=lttng "$here/counted" 1 10 >out 2>err
	[ $? = 3 ] && grep -q "LTTng's kernel tracer: needs root" err || fail "as a user: $(cat err)"
done
rm "$here/libsync_trace_ust.so"
record --backend lttng "$here/counted" >out 2>err
[ $? = 1 ] && grep -q 'needs libsync_trace_ust.so, which is not in' err ||
	fail "without the provider: $(cat err)"
record --backend lttnk "$here/counted" >out 2>err
[ $? = 2 ] && grep -q "no backend 'lttnk'" err || fail "no such backend: $(cat err)"
