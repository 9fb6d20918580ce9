#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt top` of a program in a deadlock: the threads' waits, holders and shares of time, by process and by
# directory, as text and in a terminal, until the program ends.
. "$GM_TOP/tests/tui/common.sh"
need jq

"$CC" -O1 -g -pthread -o deadlocked "$GM_TOP/tests/report/programs/deadlocked.c" || fail "cannot compile"
"$gprof_mt" record -q -o run --set sync.mode=all -- ./deadlocked >out 2>record.err &
recorder=$!
all_wait()
{
	"$gprof_mt" report -i run --format json waiting >json 2>/dev/null && jq -e '.waiting | length == 4' json >/dev/null
}
until_true 60 all_wait || fail "no deadlock: $(cat out record.err)"
pid=$(jq '.waiting[0].pid' json)

# refuses STATUS MESSAGE ARG...
refuses()
{
	local status=0
	"$gprof_mt" top "${@:3}" >refused 2>&1 || status=$?
	[ $status = "$1" ] && grep -qF -- "$2" refused && [ "$(wc -l <refused)" -le 2 ] ||
		fail "top ${*:3}: status $status: $(cat refused)"
}
refuses 1 'process 4194305: there is none' -b 4194305
refuses 1 "process $$ is not recorded; start it with \`gprof-mt record\`" -b $$
refuses 1 'no capture nowhere' -b nowhere
refuses 2 "invalid --delay '0'" -d 0
refuses 2 "invalid --count 'x'" -n x
refuses 2 "unexpected argument 'b'" a b

# Each thread does not run; the sum of its shares is its time.
for target in run "$pid"; do
	"$gprof_mt" top -b -n 2 -d 0.1 "$target" >text 2>err || fail "top $target: $(cat err)"
	[ "$(grep -c '^Threads$' text)" = 2 ] || fail "expected two refreshes: $(cat text)"
	grep -q '^.*run: 4 threads: 0 runnable, 4 waiting, 0 asleep; .* into the run, last ' text || fail "$(cat text)"
	grep -Eq '^ *mutex +left +2 +0 +[0-9.]+ [a-z]+ +(take|follow) .deadlocked.c:[0-9]+. +take +take .deadlocked.c:[0-9]+.$' text ||
		fail "no holder: $(cat text)"
	grep -Eq '^ *[0-9]+ +take +sleeping +0.0% +0.0% +100.0% .* right +[0-9.]+ [a-z]+ +take$' text || fail "$(cat text)"
	grep -q 'deadlock: take' text || fail "no deadlock: $(cat text)"
	sed -nE 's/^ *[0-9]+ +[a-z]+ +sleeping +([0-9.]+)% +([0-9.]+)% +([0-9.]+)%.*/\1 \2 \3/p' text |
		awk '{ n++; if ($1 + $2 + $3 < 99.8 || $1 + $2 + $3 > 100.2) bad = 1 } END { exit bad || n != 8 }' ||
		fail "the shares do not add up: $(cat text)"
done

# A thread that only computes runs for as long as its own clock tells.
"$CC" -O1 -pthread -o busy -x c - <<'END' || fail "cannot compile"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *compute(void *stop)
{
	while (!*(volatile int *)stop)
		;
	return NULL;
}
int main(void)
{
	static volatile int stop;
	pthread_t thread;
	pthread_create(&thread, NULL, compute, (void *)&stop);
	puts("computing");
	fflush(stdout);
	while (getchar() != EOF)
		;
	stop = 1;
	pthread_join(thread, NULL);
	return 0;
}
END
mkfifo input
"$gprof_mt" record -q -o busy.run -- ./busy <input >busy.out 2>&1 &
busy=$!
exec 9>input
until_true 60 grep -q computing busy.out || fail "$(cat busy.out)"
"$gprof_mt" top -b -n 1 -d 0.5 busy.run >text 2>err || fail "$(cat err)"
grep -Eq '^ *[0-9]+ +compute +runnable ' text && [ "$(grep -A3 '^Threads$' text | tail -n 1 | grep -c .)" = 1 ] || fail "$(cat text)"
# It never waits: it is on a CPU or ready.
waits=$(sed -nE 's/^ *[0-9]+ +compute +runnable +[0-9.]+% +[0-9.]+% +([0-9.]+)%.*/\1/p' text)
awk -v waits="$waits" 'BEGIN { exit !(waits != "" && waits < 10) }' || fail "a thread that computes waits for $waits %: $(cat text)"
exec 9>&-
wait $busy || fail "$(cat busy.out)"

# In a terminal.
terminal 120 40
run "$gprof_mt top $PWD/run; echo status \$?"
shows 'Objects waited for'
shows 'deadlock: take'
shows 'held by'
keys q
shows 'status 0'
run "clear; $gprof_mt top -d 0.1 $PWD/run; echo status \$?"
shows 'Objects waited for'
pkill -KILL -P $recorder -x deadlocked || fail "the program is gone"
shows "the program has ended; see"
shows 'status 0'
wait $recorder
refuses 1 'no program is being recorded into it; see' -b run
