#!/bin/bash
# SPDX-License-Identifier: MIT
# LTTng without record, as in gprof-mt-lttng(7): `lttng load` of each session file, a program with
# libsync_trace, `report` of the LTTng trace. It names threads and call sites, and agrees with a native
# recording.
. "$GM_TOP/tests/lttng/common.sh"
build_here tests/lttng/programs/counted.c

by_hand()
{
	local level=$1
	{
		as lttng load -i "$here/configs" "$level" --override-url="file://$PWD/$level" &&
			as lttng start "$level"
	} >session.log 2>&1 || fail "$level: $(cat session.log)"
	as env GPROF_MT_CONFIG=config LD_PRELOAD="$libsync" "$here/counted" 3 200 >out 2>err
	[ $? = 3 ] && [ ! -s err ] || fail "$level: $(cat err)"
	as lttng stop "$level" >session.log 2>&1 &&
		as lttng destroy --no-wait "$level" >>session.log 2>&1 || fail "$(cat session.log)"
}

# report DIR: agrees with the native recording
compare()
{
	tables "$1" >by-hand
	diff recorded by-hand || fail "$1, as $who: the tables differ from a native recording"
	"$gprof_mt" report -i "$1" quality >quality 2>&1 && grep -q 'nothing lost' quality ||
		fail "$1: quality: $(cat quality)"
	"$gprof_mt" report -i "$1" --format json locks >locks.json
	[ "$(jq -r '.locks[] | select(.name == "shared") | .sites | map(.site // .) | tostring' locks.json |
		grep -c 'counted.c:20')" = 1 ] || fail "$1: call sites: $(cat locks.json)"
}

cp -r "$GM_TOP/configs" "$here/configs"
for person in $(people); do
	become "$person"
	sessiond_start
	printf '[sync]\nsink = lttng\n[output]\ndir = ours\nexisting = join\n' >config
	as "$gprof_mt" record -q --set kernel.source=none "$here/counted" 3 200 >out 2>err
	[ $? = 3 ] || fail "record: $(cat err)"
	# LTTng keeps the name that a thread had at its first event.
	tables gprof-mt.data | sed 's/^worker/counted/' | sort >recorded
	levels="applic-only full-sched full"
	[ "$person" = user ] || levels=full-sched
	for level in $levels; do
		by_hand $level
		compare "$level"
	done
	# The program's thread table and load map give the final names.
	mv full-sched/ust ours/
	tables ours >by-hand
	tables gprof-mt.data >recorded
	diff recorded by-hand || fail "as $who: the tables differ with a native capture"

	# These sessions may request missing features; LTTng's exit status does not tell.
	for level in full-sched-kernel full-kernel; do
		as lttng load -i "$here/configs" $level >load.log 2>&1
		! grep -qiE 'XML|validation' load.log || fail "$level: $(cat load.log)"
	done

	# Lost events are reported.
	{
		as lttng create small --output="$PWD/small" &&
			as lttng enable-channel -u --subbuf-size=4K --num-subbuf=2 gmon_mt &&
			as lttng enable-event -u -c gmon_mt 'gmon_mt_sync:*' &&
			as lttng add-context -u -c gmon_mt -t vpid -t vtid && as lttng start small
	} >session.log 2>&1 || fail "$(cat session.log)"
	as env GPROF_MT_CONFIG=config LD_PRELOAD="$libsync" "$here/counted" 0 20000 >out 2>err
	as lttng stop small >session.log 2>&1
	as lttng destroy --no-wait small >>session.log 2>&1
	n=$(ust_events small | grep -c ' result=')
	if [ "$n" != 120001 ]; then
		"$gprof_mt" report -i small quality >quality 2>&1
		grep -q 'events discarded during recording' quality || fail "$n of 120001 events: $(cat quality)"
	fi
	echo "$who: $n of 120001 events in small buffers"
	sessiond_stop
done

# A directory without a trace, and a trace without the contexts.
mkdir -p none/ust
"$gprof_mt" report -i none >out 2>err
[ $? = 1 ] && [ "$(wc -l <err)" = 1 ] || fail "an empty directory: $(cat err)"
