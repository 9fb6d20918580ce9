#!/bin/bash
# SPDX-License-Identifier: MIT
# Google's protobuf decoder reads the exported trace: states, waits and holds are those of the reports; a flow
# leads from each release to the wait that it ended.
. "$GM_TOP/tests/sync/common.sh"
# python3-protobuf belongs to the distribution's python.
/usr/bin/python3 -c 'import google.protobuf' 2>/dev/null || skip "python3-protobuf is not installed"

# check [SELECTION...]: checks the trace of the selected part
check()
{
	"$gprof_mt" export --format perfetto "$@" 2>err || fail "export $*: $(cat err)"
	PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$GM_TOP/tests/export/programs/slices_check.py" \
		"$gprof_mt" perfetto gprof-mt.pftrace "$@" >flows || fail "the trace of $*"
}

# Waits that always occur, and the operation that ends each.
build paths -fno-omit-frame-pointer
for source in auto none; do
	rm -rf gprof-mt.data
	status=0
	"$gprof_mt" record -q --set kernel.source=$source -- ./paths || status=$?
	[ $status -eq 9 ] || fail "record, $source: exit status $status"
	check
	[ "$(grep -v ' -> .* pthread_join ' flows | sed -E 's/ \([^()]*:[0-9]+\)//g' | sort)" = "paths pthread_cond_signal main -> waits pthread_cond_wait waits
paths pthread_mutex_unlock main -> waits pthread_mutex_lock waits
paths pthread_mutex_unlock main -> waits pthread_mutex_lock waits
paths sem_post main -> waits sem_wait waits" ] || fail "$source: flows: $(cat flows)"
done
grep -q 'no scheduling events' err || fail "no note about missing scheduling events: $(cat err)"

# Two simultaneous readers, and a lock that is acquired recursively.
cat >readers.c <<'END2'
#define _GNU_SOURCE
#include <pthread.h>
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_barrier_t barrier;
static void *reads(void *arg)
{
	for (int i = 0; i < 10; i++) {
		pthread_rwlock_rdlock(&rwlock);
		pthread_barrier_wait(&barrier);
		pthread_rwlock_unlock(&rwlock);
		pthread_mutex_lock(&mutex);
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
		pthread_mutex_unlock(&mutex);
		pthread_barrier_wait(&barrier);
	}
	return arg;
}
int main(void)
{
	pthread_t other;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&other, NULL, reads, NULL);
	reads(NULL);
	return pthread_join(other, NULL);
}
END2
"$CC" -O1 -g -pthread -o readers readers.c || fail "cannot compile readers"
rm -rf gprof-mt.data
"$gprof_mt" record -q -- ./readers || fail "readers: exit status $?"
check

# Many objects and threads, and a selection of them.
for source in auto none; do
	rm -rf gprof-mt.data
	"$gprof_mt" record -q --set kernel.source=$source -- "$GM_BUILD/examples/philosophers" 4 50 >out ||
		fail "philosophers, $source: exit status $?"
	check
	check --thread 'phil-[01]'
	# From one operation to another in the later half.
	"$gprof_mt" history --format json >history || fail "history"
	between=$(jq -r --argjson start "$(jq .start_ns gprof-mt.data/info.json)" '[.objects[].ops[].time_ns] | sort |
		"\(.[length / 4 | floor] - $start)ns~\(.[length * 3 / 4 | floor] - $start)ns"' history)
	check --time "$between"
done
exit 0
