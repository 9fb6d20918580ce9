#!/bin/bash
# SPDX-License-Identifier: MIT
# Recordings with --backend lttng that run at the same time share a session daemon: two that begin at
# once start one, and it serves the other when one of them has ended or was killed.
. "$GM_TOP/tests/lttng/common.sh"
build_here tests/lttng/programs/counted.c

# whole DIR: its recording has lost nothing and reports no error of LTTng.  The session has what all
# programs of the user do; the report tells of the one that was recorded.
whole()
{
	local n
	! grep -E 'LTTng:|lost' "$1.err" || fail "$1, as $who"
	n=$("$gprof_mt" report -i "$1" --format json sync |
		jq '[.sync[] | select(.function == "pthread_mutex_lock") | .calls] | add')
	[ "$n" = 20 ] || fail "$1, as $who: expected 20 locks, got $n"
	"$gprof_mt" report -i "$1" quality >quality 2>&1 && grep -q 'nothing lost' quality ||
		fail "$1, as $who: quality: $(cat quality)"
}

for person in $(people); do
	become "$person"
	# Both look for a daemon, and find none.
	for name in first second; do
		mkfifo $name.said
		(exec "${as[@]}" "$gprof_mt" record -o $name --set kernel.source=none --backend lttng \
			"$here/counted" 1 10 wait >$name.said 2>$name.err) &
		declare $name=$!
	done
	for name in first second; do
		read -r line <$name.said
		[ "$line" = ready ] || fail "as $who: $name: $(cat $name.err)"
	done
	[ "$(cat first.err second.err | grep -c 'session daemon was started')" = 1 ] ||
		fail "as $who: daemons: $(cat first.err second.err)"
	[ "$(sessions | wc -l)" = 2 ] || fail "as $who: not two sessions: $(cat list)"

	# shellcheck disable=SC2154 # declared above
	recording_end TERM "$first" first
	sessions | grep -q -- "-$second-" || fail "as $who: the second session has ended: $(cat list)"
	recording_start third
	program=$(pgrep -P "$recorder" -x counted)
	kill -KILL "$recorder" "$program"
	wait "$recorder" 2>/dev/null
	recording_end TERM "$second" second
	whole first
	whole second
done
