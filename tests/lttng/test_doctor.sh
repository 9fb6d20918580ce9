#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor asks the session daemon that runs what it has, and gives the reason that record then gives. A daemon without
# the kernel tracer can be stopped as doctor says.
. "$GM_TOP/tests/lttng/common.sh"
[ ! -e /sys/module/lttng_tracer ] || skip "a daemon of root has the kernel tracer here"

# line CHECK: the line on it, and the one below if it is not ok
line()
{
	as "$gprof_mt" doctor >out 2>err || fail "doctor, as $who: exit status $?: $(cat out err)"
	grep -A 1 -E "^(ok|poor|no) +$1 " out | sed '/^ok/q'
}

for person in $(people); do
	become "$person"
	line lttng-sessiond | grep -qE '^ok +lttng-sessiond +/' || fail "as $who, no daemon: $(cat out)"
	mkdir empty
	as env PATH="$PWD/empty" "$gprof_mt" doctor | grep -A 1 '^poor *lttng-sessiond *not found' |
		grep -q 'apt-get install lttng-tools$' || fail "as $who: lttng-sessiond is not in PATH"
	line 'LTTng kernel tracer' | grep -q 'its modules are not loaded' || fail "as $who: $(cat out)"

	sessiond_start
	daemon=$(sessiond_pid)
	[ "$who" = root ] && lack='its modules are not loaded' || lack="the session daemon that runs is not root's"
	line lttng-sessiond | grep -qE '^ok +lttng-sessiond +runs' || fail "as $who, a daemon runs: $(cat out)"
	as env PATH="$PWD/empty" "$gprof_mt" doctor | grep -qE '^ok +lttng-sessiond +runs' ||
		fail "as $who: the daemon that runs needs no program in PATH"
	line 'LTTng kernel tracer' | grep -qF "$lack" || fail "as $who, a daemon runs: expected: $lack: $(cat out)"
	as "$gprof_mt" record --set kernel.source=lttng true 2>err || fail "record, as $who: $(cat err)"
	grep -qF "kernel events: LTTng's kernel tracer: $lack" err || fail "record, as $who: expected: $lack: $(cat err)"

	stop=$(grep -o 'kill \$(cat [^)]*)' out)
	as bash -c "$stop" && until_true 60 sessiond_is_gone "$daemon" || fail "as $who: $stop"
	line lttng-sessiond | grep -qE '^ok +lttng-sessiond +/' || fail "as $who, after $stop: $(cat out)"
done
