#!/bin/bash
# SPDX-License-Identifier: MIT
# Time after the end of record is reported neither as running nor as waiting, and the report does not claim
# that nothing was lost. The program prints how long that time was.
. "$GM_TOP/tests/lib.sh"

cat >outlived.c <<'END'
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void *burn(void *arg)
{
	for (long end = now_ns() + 200000000; now_ns() < end;)
		;
	return arg;
}

/* Blocks until a process opens it for writing. */
static void stop_at(const char *fifo)
{
	if (open(fifo, O_RDONLY) < 0)
		abort();
}

/* Without an argument, a child does the work and outlives the program. */
int main(int argc, char **argv)
{
	pthread_t thread;
	long begin_ns;

	(void)argv;
	if (argc == 1 && fork() != 0)
		return 0;
	stop_at("gate");
	begin_ns = now_ns();
	burn(NULL);
	pthread_create(&thread, NULL, burn, NULL);
	pthread_join(thread, NULL);
	dprintf(STDOUT_FILENO, "%d %ld\n", getpid(), now_ns() - begin_ns);
	return 0;
}
END
"$CC" -O1 -g outlived.c -o outlived -pthread || fail "cannot compile"
mkfifo gate

# judge DIR: the report attributes none of the time that the program printed to any state.
judge()
{
	until_true 60 [ -s out ] || fail "$1: the program printed nothing"
	"$gprof_mt" report -i "$1" --format json summary threads quality >json 2>err || fail "$1: $(cat err)"
	"$gprof_mt" report -i "$1" summary >text || fail "$1: no text"
	grep -q 'lost  *nothing' text && fail "$1: $(cat text)"
	python3 - out json <<-'END' || fail "$1: see above: $(cat json)"
	import json, sys
	pid, went_on_ns = map(int, open(sys.argv[1]).read().split())
	data = json.load(open(sys.argv[2]))
	known = ('running_ns', 'runnable_ns', 'blocked_sync_ns', 'blocked_io_ns', 'blocked_other_ns')
	main, = [t for t in data['threads'] if t['tid'] == pid]
	has_kernel = main['running_ns'] is not None
	if has_kernel:
	    assert main['unknown_ns'] >= went_on_ns, (main, went_on_ns)
	    assert sum(main[key] or 0 for key in known) + main['unknown_ns'] == main['lifetime_ns'], main
	for thread in data['threads']:
	    if thread['pid'] == pid and thread['tid'] != pid and has_kernel:
	        assert not any(thread[key] for key in known), thread
	print(*(row['what'] for row in data['quality']), sep='\n')
	END
}

can_trace || skip "scheduling events are not permitted here"
for source in perf bpf switches; do
	[ $source = bpf ] && ! has_bpf && continue
	: >out
	"$gprof_mt" record -q -o "left-$source" --set kernel.source=$source ./outlived >out 2>err ||
		fail "outlived record, $source: $(cat err)"
	: >gate # opening is enough
	judge "left-$source" >rows
	grep -qx 'continued after its scheduling was no longer recorded' rows || fail "$source: $(cat rows)"
done

: >out
"$gprof_mt" record -q -o killed ./outlived here >out 2>err &
until_true 60 grep -qs '"pid"' killed/info.json || fail "not started: $(cat err)"
exec 9>gate # the program is waiting
kill -KILL $!
wait $! 2>/dev/null
exec 9>&-
judge killed >rows
grep -q 'record was killed' rows || fail "killed: $(cat rows)"
