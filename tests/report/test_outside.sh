#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program whose threads mostly sleep in poll(): the summary says so, and names the system call where the
# capture has it.
. "$GM_TOP/tests/lib.sh"
can_trace || skip "perf tracepoints are not permitted here"

cat >sleeps.c <<'END'
#include <poll.h>
#include <pthread.h>
static void *sleep_long(void *arg) { poll(0, 0, 300); return arg; }
int main(void)
{
	pthread_t thread[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], 0, sleep_long, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], 0);
	return 0;
}
END
"$CC" -O1 -g -pthread -o sleeps sleeps.c || fail "cannot compile"
# outside PROFILE EXPECTED: the summary has that line
outside()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	"$gprof_mt" record -q --profile "$1" --set kernel.source=perf -- ./sleeps || fail "$1: exit status $?"
	"$gprof_mt" report summary >text || fail "report"
	grep -Eq "^  outside +[0-9]+ % of the threads' time .*$2" text || fail "$1: $(cat text)"
	! grep -q '^  OpenMP' text || fail "$1: no OpenMP library was loaded: $(cat text)"
}
retry outside full-sched '(; gprof-mt record --profile full records|idle: poll [0-9.]+ m?s.*; gprof-mt report io shows) where$'
retry outside full 'objects: ([^;]*; )?idle: poll [0-9.]+ m?s.*; gprof-mt timeline shows when$'

exit 0
