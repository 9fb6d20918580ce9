#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings with --backend lttng that run at the same time share a session daemon that the first of
# them has started: it serves the others when the first has ended or was killed, and a session made by
# hand as well, and ends with the last of them.
. "$GM_TOP/tests/lttng/common.sh"
build_here tests/lttng/programs/counted.c

# whole DIR: its recording has lost nothing and says nothing of LTTng.  The session has what all
# programs of the user do; the report tells of the one that was recorded.
whole()
{
	local n
	! grep -E 'LTTng|lost' "$1.err" || fail "$1, as $who"
	n=$("$gprof_mt" report -i "$1" --format json sync |
		jq '[.sync[] | select(.function == "pthread_mutex_lock") | .calls] | add')
	[ "$n" = 20 ] || fail "$1, as $who: $n of 20 locks"
	"$gprof_mt" report -i "$1" quality >quality 2>&1 && grep -q 'nothing lost' quality ||
		fail "$1, as $who: quality: $(cat quality)"
}

gone()
{
	until_true 30 sessiond_of_ours_is_gone || fail "as $who: a session daemon stays: $(cat list)"
}

# The one that started the daemon ends last (an ordinary user's), or first (root's, and below).
for person in $(people); do
	become "$person"
	recording_start first
	process[1]=$recorder name[1]=first
	recording_start second
	process[2]=$recorder name[2]=second
	one=2 other=1
	[ "$person" != root ] || one=1 other=2
	recording_end TERM "${process[one]}" "${name[one]}"
	as lttng --no-sessiond list >list 2>&1 && grep -q "gprof-mt-${process[other]}" list ||
		fail "as $who: the daemon does not go on: $(cat list)"
	recording_end TERM "${process[other]}" "${name[other]}"
	gone
	whole first
	whole second
done

# The one that started the daemon is killed; its program goes on without it.  A session is made by
# hand: the daemon stays for that, but not for the one that the killed one has left.
recording_start killed
starter=$recorder
program=$(pgrep -P "$starter" -x counted)
recording_start second
kill -KILL "$starter"
wait "$starter" 2>/dev/null
kill -KILL "$program"
as lttng create by-hand --output="$PWD/by-hand" >session.log 2>&1 || fail "$(cat session.log)"
recording_end TERM "$recorder" second
whole second
as lttng destroy by-hand >session.log 2>&1 || fail "by hand: $(cat session.log)"
gone
