#!/bin/bash
# SPDX-License-Identifier: MIT
# After pthread_exit() in main(), the last thread runs the exit handlers after its exit event. Their
# operations are counted as lost, with the right reason; the thread is one thread, and lives until the kernel
# reports its end.
. "$GM_TOP/tests/lib.sh"

cat >last.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void at_exit(void)
{
	for (int i = 0; i < 7; i++)
		pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock);
	usleep(100000);
}

static void *last(void *arg)
{
	pthread_join(*(pthread_t *)arg, NULL);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	static pthread_t self;
	pthread_t thread;

	self = pthread_self();
	atexit(at_exit);
	pthread_create(&thread, NULL, last, &self);
	pthread_detach(thread);
	pthread_exit(NULL);
}
END
"$CC" -O1 -g last.c -o last -pthread || fail "cannot compile"
"$gprof_mt" record ./last >out 2>err || fail "exit status: $(cat err)"
grep -qx 'gprof-mt: lost: runtime libraries: synch-events that were not written: 14' err || fail "losses: $(cat err)"
"$gprof_mt" report --format json threads quality >json || fail report
python3 - json "$(info 'kernel source')" <<'END' || fail "$(cat json)"
import json, sys
data = json.load(open(sys.argv[1]))
main, last = data['threads']
assert sys.argv[2] == 'none' or last['lifetime_ns'] >= 100000000, last
lost, = (row for row in data['quality'] if row['what'].startswith('synch-events'))
assert lost['count'] == 14 and ':' not in lost['what'], lost
END
