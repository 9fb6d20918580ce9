#!/bin/bash
# SPDX-License-Identifier: MIT
# A section reads only the streams of events that it needs: none for call counts, no call histories for threads
# and locks.  strace is the witness.
. "$GM_TOP/tests/lib.sh"
need strace jq
strace -o /dev/null true 2>/dev/null || skip "strace cannot trace here"

cat >app.c <<'END'
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long sum;

__attribute__((noinline)) static void add(long n)
{
	sum += n;
}

static void *work(void *arg)
{
	for (long i = 0; i < 20000; i++)
		add(i);
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
"$CC" -pg -g -O1 -pthread -o app app.c || fail "cannot compile"
"$gprof_mt" record -q --set calls.mode=history --set sync.mode=all ./app || fail "record"
ls gprof-mt.data/[0-9]*/calls-history/stream_* gprof-mt.data/[0-9]*/user/stream_* >/dev/null || fail "no streams"
[ "$(info "kernel source")" != none ] && kernel=kernel

# reads KINDS COMMAND...: the command reads events of exactly these kinds (calls, kernel, user); of others, only
# the headers of packets, by which it finds missing data
header_bytes=72
reads()
{
	local expected=$1
	shift
	# LeakSanitizer traces its process, and so does strace.
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
		strace -f -qq -y -e trace=read,pread64,readv,preadv,mmap -o trace "$gprof_mt" "$@" >/dev/null || fail "$*"
	! grep -E 'mmap.*(stream_|channel)' trace || fail "$*: maps a stream: count it here"
	same "$*" "$expected" "$(sed -nE '
		s:.*<[^>]*/calls-history/(stream_[^>]*)>.* = ([0-9]+)$:calls \1 \2:p
		s:.*<[^>]*/user/(stream_[^>]*)>.* = ([0-9]+)$:user \1 \2:p
		s:.*<[^>]*/kernel/(channel[^>]*)>.* = ([0-9]+)$:kernel \1 \2:p' trace |
		awk -v header=$header_bytes '$3 > header { print $1 }' | sort -u | tr '\n' ' ' | sed 's/ $//')"
}

words()
{
	echo "$@" | tr ' ' '\n' | sort | tr '\n' ' ' | sed 's/ $//'
}

reads '' report flat
reads '' report callgraph
reads '' graph --kind calls
reads '' export --format callgrind -o x.callgrind
for section in summary threads sync locks; do
	reads "$(words ${kernel:-} user)" report $section
done
reads "$(words ${kernel:-} user)" report
reads calls history --calls --tid "$("$gprof_mt" report --format json threads | jq '[.threads[].tid] | max')"
reads calls export --format folded -o x.folded
