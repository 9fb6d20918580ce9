#!/bin/bash
# SPDX-License-Identifier: MIT
# Signal handlers jump out of waits and other operations, thousands of times in one thread: the program
# runs as bare, each wait has an end, each lost event is counted, and the number of streams is limited.
. "$GM_TOP/tests/lib.sh"

need babeltrace2

# events NAME...: "NAME RESULT OBJECT" of each
events()
{
	"$GM_TOP/tests/babeltrace" gprof-mt.data/*/user 2>babeltrace.err >text || fail "$*: babeltrace2: $(cat babeltrace.err)"
	[ ! -s babeltrace.err ] || fail "$*: babeltrace2 warned: $(head -3 babeltrace.err)"
	sed -E 's/.*\) ([a-z_]+): .*result = ([0-9]+).*object = (0x[0-9A-F]+).*/\1 \2 \3/' text >events
}

# count PATTERN: lines of ./events
count()
{
	grep -Ec "$1" events
}

streams()
{
	find gprof-mt.data -name 'stream_*' | grep -vc '_[0-9]*_[0-9]*$'
}

build jumps
for way in 'cond 1300' 'cond 500 stack' 'exit 200' 'wait 1300' 'wait 300 stack' 'cancel 200' \
	'post 1300' 'post 200 stack' 'nested 300' 'nested 200 stack'; do
	# shellcheck disable=SC2086 # several words
	timeout 60 ./jumps $way >bare 2>bare.err || fail "$way: bare: exit status $?"
	# shellcheck disable=SC2086
	fresh env LD_PRELOAD="$libsync" timeout 60 ./jumps $way >out 2>err
	status=$?
	[ $status -eq 0 ] || fail "$way: status $status under libsync-trace"
	cmp bare out || fail "$way: expected '$(cat bare)' as bare, found '$(cat out)'"
	events "$way"
	n=${way#* }
	n=${n% *}
	left=$("$gprof_mt" report --format csv quality 2>/dev/null | grep 'synch-events')
	lost=$(awk -F, '{ n += $(NF - 1) } END { print n + 0 }' <<<"$left")
	! grep -q memory <<<"$left" || fail "$way: the reason is not memory: $left"
	echo "$way: $(streams) streams, $(wc -l <events) events; $left"
	[ "$(streams)" -le 8 ] || fail "$way: expected at most 8 streams, found $(streams)"
	for wait in cond_wait sem_wait mutex_lock; do
		begun=$(count "^${wait}_begin ") ended=$(count "^$wait ")
		[ "$begun" -le $((ended + lost)) ] || fail "$way: $begun $wait begun, $ended ended, $lost lost"
	done
	case $way in
	cond*)
		# the handler may come before the wait has begun
		[ "$(count '^cond_wait 4 ')" -ge $((n / 4)) ] || fail "$way: expected at least $((n / 4)) waits left by jumps, found $(count '^cond_wait 4 ')"
		[ "$(count '^cond_wait 125 ')" -eq 1 ] || fail "$way: the cancelled wait has no end"
		;;
	cancel*)
		[ "$(count '^cond_wait_begin ')" -eq "$(count '^cond_wait 125 ')" ] || fail "$way: waits without an end"
		;;
	wait*)
		[ "$(count '^(sem_wait|mutex_lock) 4 ')" -ge $((n / 4)) ] || fail "$way: expected at least $((n / 4)) waits left by jumps"
		;;
	*)
		while read -r word posts object; do
			recorded=$(count "^sem_post 0 $object")
			[ "$word" != handled ] || [ "$recorded" -eq "$posts" ] ||
				fail "$way: $recorded of $posts posts of handlers are recorded"
			# a post that a jump left may have taken effect, and may be recorded
			if [ $((recorded + lost)) -lt "$posts" ] || [ "$recorded" -gt $((posts + n)) ]; then
				fail "$way: $recorded posts recorded, $lost counted as lost, $posts made"
			fi
		done < <(awk '{ printf "%s %s 0x%s\n", $1, $2, toupper(substr($3, 3)) }' err)
		;;
	esac
done
