#!/bin/bash
# SPDX-License-Identifier: MIT
# The holder of an object that a thread waits for, with its call site: at the start of the wait and last; all holds
# to blame for a wait, the longest first;
# wakers by post and signal, as babeltrace2 prints them; objects of several processes are distinguished; waits
# of other threads come before joins of main(); a program that is still running.
. "$GM_TOP/tests/tui/common.sh"
need babeltrace2

"$CC" -O1 -g -o handover "$GM_TOP/tests/tui/handover.c" -pthread || fail 'cannot compile'
mkfifo input
exec 9<>input
"$gprof_mt" record -q -- ./handover <&9 >handover.out &
until_true 60 grep -q handed handover.out || fail "the program does not run: $(cat handover.out)"
terminal 110 40
run "$gprof_mt browse; echo status=\$?"
shows DETAILS
shows 'still running; this report covers the first'
keys q
shows status=0
echo >&9
wait || fail "record: $?"

# The threads that unlock it, in order: main(), and the waiters.
babeltrace2 gprof-mt.data >all.txt 2>err || fail "babeltrace2: $(cat err)"
# tids EVENT: prints the threads of these events, in order
tids()
{
	sed -n "s/.* $1: { tid = \([0-9]*\),.*/\1/p" all.txt
}
tids mutex_unlock >unlocks
head -n 3 unlocks >first3 && [ "$(sort -u first3 | wc -l)" = 3 ] || fail "not three: $(cat unlocks)"
holder=$(sed -n 1p unlocks) first=$(sed -n 2p unlocks) second=$(sed -n 3p unlocks)

run "clear; $gprof_mt browse; echo status=\$?"
shows DETAILS
lacks 'still running' || fail "it has ended: $(screen)"
screen | awk '/^OPERATIONS/ { exit !rows } is_in { rows++; if (/^thread/) last = 1; else if (last) exit 1 }
	/^OBJECTS/ { is_in = 1 }' || fail "a thread is listed above an object: $(screen)"
keys o /
types 'mutex mutex'
keys Enter
shows 'OPERATIONS on mutex mutex'
keys c Enter Home
shows 'WAITS on mutex mutex: 1 of 2'
shows "by wait_for_it (tid $first), result 0"
shows "taken with (w): mutex_lock by handover (tid $holder) at"
shows "released with: mutex_unlock by handover (tid $holder) at"
lacks 'others had it' || fail "nobody else had it: $(screen)"
keys j
shows "by wait_for_it (tid $second), result 0"
shows "taken with (w): mutex_lock by handover (tid $holder) at"
shows "released with: mutex_unlock by handover (tid $holder) at"
shows "held by others then, the last until: mutex_unlock by wait_for_it (tid $first) at"

# Main held it during the second wait, and then the first waiter; which of them longer depends on the scheduler.
shows 'to blame (b): '
shows ', 1 other'
# blamed N: a hold is shown as cause N, with its release, acquisition and path; prints the release
blamed()
{
	shows "that $second wait_for_it waited, cause $1 of 2: b shows the next"
	shows 'matches (m): mutex_lock by '
	shows "  in $(screen | sed -n 's/.* mutex_unlock by \([a-z_]*\) (tid .*), result 0/\1/p' | sed 's/^handover$/main/') (handover.c:"
	screen | sed -n 's/.* \(mutex_unlock by .*\), result 0.*/\1/p'
}
keys b
blamed 1 >causes
keys b
blamed 2 >>causes
same 'releases' "$(printf '%s\n' "mutex_unlock by handover (tid $holder)" "mutex_unlock by wait_for_it (tid $first)" | sort)" "$(sort causes)"
keys b
blamed 1 >again
same 'the first cause again' "$(head -n 1 causes)" "$(cat again)"
keys BSpace
shows "mutex_lock by wait_for_it (tid $second), result 0"
keys w
shows "mutex_lock by handover (tid $holder), result 0"
keys m
shows "mutex_unlock by handover (tid $holder), result 0"
keys w
shows 'it did not wait'

# ended OBJECT WAIT BY: the wait on OBJECT was ended by the call BY of the thread that babeltrace2 prints, and
# that call refers to the wait.
ended()
{
	local waiter waker
	waiter=$(tids "$2") waker=$(tids "$3")
	keys o /
	types "$1"
	keys Enter
	shows "OPERATIONS on $1"
	keys Enter Home ']'
	shows "$2 by wait_for_it (tid $waiter), result 0"
	shows "ended by (m): $3 by handover (tid $waker) at"
	keys m
	shows "$3 by handover (tid $waker), result 0"
	shows "matches (m): $2 by wait_for_it (tid $waiter) at"
	keys m
	shows "$2 by wait_for_it (tid $waiter), result 0"
}
ended 'sem empty' sem_wait sem_post
keys b
shows "sem_post by handover (tid $holder), result 0"
shows "to blame for "
keys b
shows 'no other cause'
keys BSpace
shows "sem_wait by wait_for_it (tid $first), result 0"
ended 'cond posted' cond_wait cond_signal
keys o /
types 'sem never'
keys Enter
shows 'OPERATIONS on sem never'
keys Enter Home ']'
shows ' unknown: it timed out'
keys b
until_true 60 eval 'screen | tail -n 1 | grep -q "^to blame: .* unknown: it timed out"' || fail "no reason: $(screen)"
keys q
shows status=0

# The same mutex in each of three processes.
cat >forks.c <<-'END'
	#include <pthread.h>
	#include <sys/wait.h>
	#include <unistd.h>
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	int main(void)
	{
		pid_t child = 0;
		for (int i = 0; i < 2; i++)
			if ((child = fork()) == 0)
				break;
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		while (child && wait(NULL) > 0)
			;
		return 0;
	}
END
"$CC" -O1 -g -o forks forks.c -pthread || fail 'cannot compile'
"$gprof_mt" record -q -o forks.data -- ./forks || fail record
babeltrace2 forks.data 2>err | sed -n 's/.* mutex_lock: { tid = \([0-9]*\),.*/\1/p' >pids
[ "$(sort -u pids | wc -l)" = 3 ] || fail "not three processes: $(cat pids)"
run "clear; $gprof_mt browse -i forks.data; echo status=\$?"
shows 'OBJECTS 3'
while read -r pid; do
	shows "$pid mutex mutex"
	keys o /
	types "$pid"
	keys Enter
	shows "OPERATIONS on $pid mutex mutex"
	shows "of process $pid"
done <pids
keys q
shows status=0
