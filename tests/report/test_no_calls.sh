#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread that called nothing has 0 calls if its calls would have been counted, also in the child of a
# counting process. Otherwise the value is missing, and a note gives the reason. Damage never gives 0.
. "$GM_TOP/tests/lib.sh"
cat >quiet.c <<'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* No compiler leaves this call out or inlines it. */
__attribute__((noipa)) static void call(void)
{
	__asm__ volatile("");
}

__attribute__((no_instrument_function)) static void *quiet(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

__attribute__((no_instrument_function)) static void thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, quiet, NULL) || pthread_join(thread, NULL))
		_exit(1);
}

int main(void)
{
	int status;

	call();
	thread();
	if (fork() == 0) { /* no calls, in two threads */
		thread();
		_exit(0);
	}
	if (fork() == 0) { /* a child of a child, which itself makes no calls */
		quiet(NULL);
		if (fork() == 0) {
			quiet(NULL);
			_exit(0);
		}
		_exit(wait(&status) < 0 || status);
	}
	if (fork() == 0) {
		call();
		call();
		_exit(0);
	}
	if (fork() == 0) { /* another program, without -pg */
		execl("./plain", "./plain", (char *)NULL);
		_exit(1);
	}
	if (fork() == 0) /* nothing at all */
		_exit(0);
	while (wait(&status) > 0)
		if (status)
			return 1;
	return 0;
}
END
"$CC" -pg -O1 -g -o quiet quiet.c -pthread && "$CC" -O1 -g -o plain -xc - -pthread <<'END' || fail "cannot compile"
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
	return pthread_mutex_lock(&lock) || pthread_mutex_unlock(&lock);
}
END

# calls DIR EXPECTED: the calls of all threads, in increasing order; "-" for unknown ones
calls()
{
	local got
	"$gprof_mt" report -i "$1" --format json threads >report.json 2>err
	got=$(jq -r '[.threads[].calls] | map(. // "-") | sort_by(if . == "-" then -1 else . end) | map(tostring) | join(" ")' report.json)
	[ "$got" = "$2" ] || fail "$1: expected calls '$2', got '$got'"
}

# note DIR TEXT
note()
{
	jq -r '.notes[].note' report.json | grep -q "$2" || fail "$1: no note '$2': $(jq -c .notes report.json)"
}

# Without samples, one of which might show the child that becomes another program.
"$gprof_mt" record -q -o all --set kernel.source=none --set sample.hz=0 ./quiet || fail "record"
calls all "- 0 0 0 0 0 2 2" # plain; three threads of forks, two of a fork's thread; two that call
note all "calls of 1 of the threads were not counted: .*-pg"
# Stock gprof has figures of the two threads that called, and no file for the others.
for at in all/*/gmon.*; do gprof -b -p -z ./quiet "$at"; done >flat || fail "gprof"
[ "$(awk '$NF == "main" || $NF == "call" { n += $4 } END { print n + 0 }' flat)" = 4 ] || fail "gprof: $(cat flat)"
[ "$(find all -name 'gmon.*.*' ! -name '*merged*' | wc -l)" = 2 ] || fail "gmon files: $(find all -name 'gmon.*')"

if has_bpf || can_trace; then
	"$gprof_mt" record -q -o kernel --set sample.hz=0 ./quiet || fail "record"
	calls kernel "- - 0 0 0 0 0 2 2"
	note kernel "1 of the threads are known only from kernel events"
	"$gprof_mt" report -i kernel --time 0~ --format json threads >report.json || fail "--time"
	! jq -r '.notes[].note' report.json | grep -q "whether they called" || fail "--time: $(jq -c .notes report.json)"
fi

# Without the program's counts nothing is known of its threads and its forks.
program=$(info pid all)
cp -r all lost && rm "lost/$program/calls" || fail "cannot make a capture without calls"
calls lost "- - - - - - - 2"
note lost "calls of 7 of the threads were not counted"
# A file that is damaged after the calls of main().
cp -r all cut && printf 'GARBAGE!' | dd of="cut/$program/calls" bs=1 seek=0 conv=notrunc 2>/dev/null || fail "cannot damage a calls file"
calls cut "- - - - - - - 2"
# The counts of the same program remain, those of its fork are lost.
cp -r all apart || fail "cannot copy the capture"
for at in apart/[0-9]*; do
	[ "$at" = "apart/$program" ] || sed -i '1s/load [0-9a-f]* [0-9a-f]* [0-9a-f]*/load 1000 5078 1000/' "$at/maps"
done
calls apart "- - - - - 0 2 2"
# Counting is off.
"$gprof_mt" record -q -o off --profile applic-only --set calls.mode=off ./quiet || fail "record off"
calls off "- - - - - - -"
note off "calls of 7 of the threads were not counted"
exit 0
