#!/bin/bash
# SPDX-License-Identifier: MIT
# Who holds what somebody waits for, and where: who had it when the wait began and who had it last, and who
# posted and signalled, as babeltrace2 prints them; objects of several processes told apart; what somebody
# waits for above what main() joins; a program that goes on.
. "$GM_TOP/tests/tui/common.sh"
need babeltrace2

"$CC" -O1 -g -o handed "$GM_TOP/tests/tui/handed.c" -pthread || fail 'cannot compile'
mkfifo input
exec 9<>input
"$gprof_mt" record -q -- ./handed <&9 >handed.out &
until_true 60 grep -q handed handed.out || fail "it does not run: $(cat handed.out)"
terminal 110 30
run "$gprof_mt browse; echo status=\$?"
shows DETAILS
shows 'the program goes on: this is what it has done so far'
keys q
shows status=0
echo >&9
wait || fail "record: $?"

# The threads that unlock it, in order: main(), and those that waited.
babeltrace2 gprof-mt.data >all.txt 2>err || fail "babeltrace2: $(cat err)"
# tids EVENT
tids()
{
	sed -n "s/.* $1: { tid = \([0-9]*\),.*/\1/p" all.txt
}
tids mutex_unlock >unlocks
head -n 3 unlocks >first3 && [ "$(sort -u first3 | wc -l)" = 3 ] || fail "not three: $(cat unlocks)"
holder=$(sed -n 1p unlocks) first=$(sed -n 2p unlocks) second=$(sed -n 3p unlocks)

run "clear; $gprof_mt browse; echo status=\$?"
shows DETAILS
lacks 'goes on' || fail "it has ended: $(screen)"
screen | awk '/^OPERATIONS/ { exit !rows } is_in { rows++; if (/^thread/) last = 1; else if (last) exit 1 }
	/^OBJECTS/ { is_in = 1 }' || fail "a thread is above what is none: $(screen)"
keys o /
types 'mutex mutex'
keys Enter
shows 'OPERATIONS on mutex mutex'
keys c Enter Home
shows 'WAITS on mutex mutex: 1 of 2'
shows "by handed (tid $first), result 0"
shows "taken with (w): mutex_lock by handed (tid $holder) at"
shows "let go of with: mutex_unlock by handed (tid $holder) at"
lacks 'others had it' || fail "nobody else had it: $(screen)"
keys j
shows "by handed (tid $second), result 0"
shows "taken with (w): mutex_lock by handed (tid $holder) at"
shows "let go of with: mutex_unlock by handed (tid $holder) at"
shows "others had it then, the last until: mutex_unlock by handed (tid $first) at"
keys w
shows "mutex_lock by handed (tid $holder), result 0"
keys m
shows "mutex_unlock by handed (tid $holder), result 0"
keys w
shows 'it did not wait'

# ended OBJECT WAIT BY: the wait on it was ended by that call of the thread that babeltrace2 says, and it by the wait.
ended()
{
	local waiter waker
	waiter=$(tids "$2") waker=$(tids "$3")
	keys o /
	types "$1"
	keys Enter
	shows "OPERATIONS on $1"
	keys Enter Home ']'
	shows "$2 by handed (tid $waiter), result 0"
	shows "ended by (m): $3 by handed (tid $waker) at"
	keys m
	shows "$3 by handed (tid $waker), result 0"
	shows "belongs with (m): $2 by handed (tid $waiter) at"
	keys m
	shows "$2 by handed (tid $waiter), result 0"
}
ended 'sem empty' sem_wait sem_post
ended 'cond posted' cond_wait cond_signal
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
