#!/bin/bash
# SPDX-License-Identifier: MIT
# When the program has ended, record prints the longest waits in at most ten lines, as the report has them;
# nothing with -q.
. "$GM_TOP/tests/lib.sh"

cat >app.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit/sleeper.h"

#define GATES 12

static pthread_mutex_t gates[GATES];
static pthread_mutex_t open_gate = PTHREAD_MUTEX_INITIALIZER;
static int tid;

static void *pass(void *gate)
{
	__atomic_store_n(&tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

/* At each of N gates a thread waits once; another gate is passed M times without a wait. */
int main(int argc, char **argv)
{
	pthread_t thread;

	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 0); i++) {
		tid = 0;
		pthread_mutex_init(&gates[i], NULL);
		pthread_mutex_lock(&gates[i]);
		pthread_create(&thread, NULL, pass, &gates[i]);
		if (!sleeper_await(&tid))
			return 1;
		pthread_mutex_unlock(&gates[i]);
		pthread_join(thread, NULL);
	}
	for (int i = 0; i < (argc > 2 ? atoi(argv[2]) : 0); i++) {
		pthread_mutex_lock(&open_gate);
		pthread_mutex_unlock(&open_gate);
	}
	return 3;
}
END
"$CC" -D_GNU_SOURCE -pg -g -O1 -pthread -I"$GM_TOP/tests" -o app app.c || fail "cannot compile"

# recorded ARGUMENT...: writes the messages of record to err
recorded()
{
	rm -rf gprof-mt.data
	"$gprof_mt" record "$@" 2>err
	[ $? = 3 ] || fail "$*: exit status; $(cat err)"
	[ "$(wc -l <err)" -le 10 ] || fail "$*: more than ten lines: $(cat err)"
	! grep -v '^gprof-mt: ' err || fail "$*: see above"
}

# Names as in the report, the longest wait first, without threads.
reported()
{
	"$gprof_mt" report --format json locks | jq -r '[.locks[] | select(.wait_ns > 0 and
		.type != "thread")] | sort_by(-.wait_ns) | .[:3] | .[].name'
}

# With scheduling events there may be more lines, about losses or missing permissions.
for case in 'applic-only 0' 'applic-only 1' 'applic-only 12' 'full-sched 3'; do
	read -r profile gates <<<"$case"
	recorded --profile "$profile" ./app "$gates"
	sed -nE 's/^gprof-mt: waited [0-9.]+ [a-z]+ for (.*) \(mutex\), in 1 of 2 operations, mostly at pass \(.*app\.c:[0-9]+\), held since main \(.*app\.c:[0-9]+\)$/\1/p' \
		err >named
	[ "$(wc -l <named)" = $((gates < 3 ? gates : 3)) ] || fail "$gates gates: $(cat err)"
	diff <(reported) named || fail "$profile, $gates gates: the summary differs from the report"
	grep -q lost err || grep -q '^gprof-mt: gprof-mt.data: .*; complete$' err || fail "lost: $(cat err)"
	grep -c waited err | grep -qx "$(wc -l <named)" || fail "unexpected number of waits: $(cat err)"
done
recorded -q --profile applic-only ./app 3
[ ! -s err ] || fail "-q: $(cat err)"

# Waits that end without the object, or never, count as operations: no more operations waited than there were.
cat >vain.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;

static void *try_twice(void *arg)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	for (int i = 0; i < 2; i++) {
		until.tv_sec += until.tv_nsec / 990000000;
		until.tv_nsec = (until.tv_nsec + 10000000) % 1000000000;
		pthread_mutex_timedlock(&busy, &until);
	}
	return arg;
}

int main(void)
{
	pthread_t thread;

	pthread_mutex_lock(&busy);
	pthread_create(&thread, NULL, try_twice, NULL);
	pthread_join(thread, NULL);
	pthread_mutex_unlock(&busy);
	return 3;
}
END
"$CC" -g -O1 -pthread -o vain vain.c || fail "cannot compile"
for profile in applic-only full-sched; do
	recorded --profile $profile ./vain
	grep -q 'for busy (mutex), in 2 of 3 operations, 2 timed out' err || fail "$profile: $(cat err)"
	"$gprof_mt" report summary | grep -q 'in 2 of 3 operations, 2 timed out' || fail "$profile: report differs"
done

# A wait that ends with the program lasts until then, even if no event has that time.
"$CC" -g -O1 -pthread -I "$GM_TOP/tests" -o blocked "$GM_TOP/tests/record/programs/blocked.c" || fail "cannot compile"
long='[3-9][0-9][0-9] ms|[0-9.]+ s'
for source in none auto; do
	"$gprof_mt" record --set kernel.source=$source ./blocked >out 2>err
	[ $? = 137 ] || fail "blocked: $(cat err)"
	grep -qE "waited ($long) for busy \(mutex\), in 1 of 2 operations" err || fail "$source: $(cat err)"
	"$gprof_mt" report summary >text || fail "$source: no report"
	grep -qE "waited most +($long) for busy" text || fail "$source: $(cat text)"
done

# C++ names are shortened: no template arguments of the function, no parameters.
cat >named.cc <<'END'
#include <map>
#include <pthread.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

#include "unit/sleeper.h"

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static int tid;

template <class K, class V> struct table {
	__attribute__((noinline)) static void put(const std::map<K, V> &)
	{
		__atomic_store_n(&tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
		pthread_mutex_lock(&busy);
		pthread_mutex_unlock(&busy);
	}
};

static void *put(void *arg)
{
	table<std::string, std::string>::put({});
	return arg;
}

int main()
{
	pthread_t thread;

	pthread_mutex_lock(&busy);
	pthread_create(&thread, NULL, put, NULL);
	if (!sleeper_await(&tid))
		return 1;
	pthread_mutex_unlock(&busy);
	return pthread_join(thread, NULL);
}
END
g++ -g -O1 -pthread -I "$GM_TOP/tests" -o named named.cc || fail "cannot compile"
"$gprof_mt" record ./named 2>err || fail "named: $(cat err)"
grep -qE 'for busy \(mutex\), in 1 of 2 operations, mostly at table::put \(named.cc:[0-9]+\)' err || fail "named: $(cat err)"

# Many events: all waits, if all bytes are read; test_summary_estimates has the others.  By default the machine's speed
# decides.
export GPROF_MT_SUMMARY_BYTES=$((1 << 40))
recorded --profile applic-only --set sync.mode=all ./app 2 500000
[ "$(grep -c 'waited .* for ' err)" = 2 ] || fail "$(cat err)"
! grep -E 'in the first|estimates' err || fail "see above"

# The last line names the section that shows more, and the capture unless it is the default one.
recorded --profile full-sched --set calls.mode=off ./vain
[ "$(tail -1 err)" = 'gprof-mt: next: gprof-mt report locks' ] || fail "$(cat err)"
recorded --profile applic-only --set sync.mode=off ./app
[ "$(tail -1 err)" = 'gprof-mt: next: gprof-mt report flat' ] || fail "$(cat err)"
recorded -o 'my data' --profile applic-only --set calls.mode=off --set sync.mode=off ./app
[ "$(tail -1 err)" = "gprof-mt: next: gprof-mt report -i 'my data' threads" ] || fail "$(cat err)"
