#!/bin/bash
# SPDX-License-Identifier: MIT
# A killed `record --backend lttng` leaves its session, which would record later programs, too.  The
# next one destroys it, and no other: neither one of a recorder that runs, nor of another user, of
# another PID namespace, or made by hand, with whatever name.
. "$GM_TOP/tests/lttng/common.sh"
build_here tests/lttng/programs/counted.c

# When the process began, in ticks.
start_of()
{
	sed 's/.*) //' "/proc/$1/stat" | cut -d ' ' -f 20
}

# ends DIR: a recording that is whole
ends()
{
	as "$gprof_mt" record -o "$1" --set kernel.source=none --backend lttng "$here/counted" 3 200 >out 2>err
	[ $? = 3 ] && ! grep -E 'LTTng:|lost' err || fail "as $who: $(cat err)"
	n=$("$gprof_mt" report -i "$1" --format json sync |
		jq '[.sync[] | select(.function == "pthread_mutex_lock") | .calls] | add')
	[ "$n" = 800 ] || fail "as $who: $n of 800 locks"
}

for person in $(people); do
	become "$person"
	recording_start killed
	program=$(pgrep -P "$recorder" -x counted)
	name=$(sessions)
	uid=$(as id -u)
	namespace=$(stat -L -c %i /proc/self/ns/pid)
	[ "$name" = "gprof-mt-$uid-$namespace-$recorder-$(start_of "$recorder")" ] || fail "unexpected name of the session: $name"
	kill -KILL "$recorder"
	wait "$recorder" 2>/dev/null
	[ "$(sessions)" = "$name" ] || fail "as $who: sessions after record was killed: $(cat list)"
	recording_start live
	[ "$(sessions)" != "$name" ] && [ "$(sessions | wc -l)" = 1 ] || fail "as $who: $(cat list)"
	kill -KILL "$program"
	"$gprof_mt" report -i killed sync >report 2>&1 && grep -q pthread_mutex_lock report ||
		fail "as $who: the killed recording lacks events: $(cat report)"

	# Nobody has this process number now, or another process has it.
	gone=$recorder
	until ! kill -0 $gone 2>/dev/null; do
		gone=$((gone + 1))
	done
	live=$(sessions)
	stale="gprof-mt-$uid-$namespace-$gone-77 gprof-mt-$uid-$namespace-$$-1"
	kept="by-hand gprof-mt-by-hand gprof-mt-$gone gprof-mt-$uid-$namespace-$gone-77-more
		gprof-mt-$((uid + 1))-$namespace-$gone-77 gprof-mt-$uid-$((namespace + 1))-$gone-77
		gprof-mt-$uid-$namespace-0$gone-77 gprof-mt-$uid-$namespace-$gone-0
		gprof-mt-$uid-$namespace--1-77 gprof-mt-$uid-$namespace-$$-$(start_of $$)"
	for session in $stale $kept; do
		as lttng --no-sessiond create "$session" --output="$PWD/$session" >session.log 2>&1 ||
			fail "$(cat session.log)"
	done
	ends next
	# shellcheck disable=SC2086 # words
	sessions | diff <(printf '%s\n' $kept $live | sort) - || fail "as $who: other sessions than these stay"
	recording_end TERM "$recorder" live
	"$gprof_mt" report -i live quality >quality 2>&1 && grep -q 'nothing lost' quality ||
		fail "as $who: the simultaneous recording: $(cat quality)"
done
