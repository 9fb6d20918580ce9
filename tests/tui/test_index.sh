#!/bin/bash
# SPDX-License-Identifier: MIT
# The browser's index agrees with the passes: for the cases of tests/pass, and for real runs, also after it
# has been saved and read back. So do the causes of single waits.
. "$GM_TOP/tests/lib.sh"
need python3
compare=$GM_BUILD/tests/tui/compare_index
blame=$GM_BUILD/tests/tui/compare_blame

"$compare" "$GM_TOP"/tests/pass/*.txt || fail 'see above'
"$blame" "$GM_TOP"/tests/pass/{blame,finding,holders,rwlock,idle,suspects,graph_wait}.txt || fail 'see above'
# compare SOURCE PROGRAM...
compare()
{
	local source=$1
	shift
	rm -rf gprof-mt.data
	"$gprof_mt" record -q --set kernel.source="$source" -- "$@" >out || fail "record $*"
	check "$*, $source"
}
check()
{
	"$compare" gprof-mt.data >compared || fail "$1: see above"
	"$blame" gprof-mt.data || fail "$1: see above"
}
compare auto "$GM_BUILD/examples/philosophers" 4 50
compare none "$GM_BUILD/examples/philosophers" 4 50
compare auto "$GM_BUILD/examples/client_server" 4
compare auto "$GM_BUILD/examples/crossroad" 3

# Recursive locks: each unlock belongs to the lock that it undoes.
cat >nest.c <<-'END'
	#define _GNU_SOURCE
	#include <pthread.h>
	static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
	static void *nest(void *unused)
	{
		for (int i = 0; i < 20; i++) {
			pthread_mutex_lock(&mutex);
			pthread_mutex_trylock(&mutex);
			pthread_mutex_unlock(&mutex);
			pthread_rwlock_rdlock(&rwlock);
			pthread_mutex_lock(&mutex);
			pthread_mutex_lock(&mutex);
			pthread_rwlock_rdlock(&rwlock);
			pthread_mutex_unlock(&mutex);
			pthread_rwlock_unlock(&rwlock);
			pthread_mutex_unlock(&mutex);
			pthread_rwlock_unlock(&rwlock);
			pthread_mutex_unlock(&mutex);
		}
		return unused;
	}
	int main(void)
	{
		pthread_t threads[3];
		for (int i = 0; i < 3; i++)
			pthread_create(&threads[i], 0, nest, 0);
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], 0);
		return 0;
	}
END
"$CC" -O2 -g -o nest nest.c -pthread || fail 'cannot compile'
# On a busy machine, its threads may run one after the other.
has_waits()
{
	rm -rf gprof-mt.data
	"$gprof_mt" record -q -- ./nest >out || fail 'record ./nest'
	"$gprof_mt" report --format csv locks 2>err >rows.csv || fail "report: $(cat err)"
	python3 -c '
import csv, sys
sys.exit(not sum(int(row["contended"]) for row in csv.DictReader(open("rows.csv"))))'
}
retry has_waits
check ./nest
grep -q ', 480 within others' compared || fail "not twice 3 threads x 20 x 4 within others: $(cat compared)"
