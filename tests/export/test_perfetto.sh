#!/bin/bash
# SPDX-License-Identifier: MIT
# Perfetto's trace processor reads the exported trace without errors: the fields are those of the published
# schema; states, waits and holds are those of the reports; a flow leads from each release to the wait that it
# ended.
. "$GM_TOP/tests/sync/common.sh"
[ -e "$GM_BUILD/tests/perfetto/trace-processor" ] || skip "npm could not get the trace processor"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$GM_TOP/tests/export

# check [SELECTION...]: checks the trace of the selected part
check()
{
	"$gprof_mt" export --format perfetto -o trace "$@" 2>err || fail "export $*: $(cat err)"
	python3 "$GM_TOP/tests/export/programs/slices_check.py" "$gprof_mt" trace_processor trace "$@" >flows ||
		fail "the trace of $*"
}

build paths -fno-omit-frame-pointer
status=0
"$gprof_mt" record -q --set kernel.source=none -- ./paths || status=$?
[ $status -eq 9 ] || fail "record: exit status $status"
check
[ "$(grep -v ' -> .* pthread_join ' flows | sed -E 's/ \([^()]*:[0-9]+\)//g' | sort)" = "paths pthread_cond_signal main -> waits pthread_cond_wait waits
paths pthread_mutex_unlock main -> waits pthread_mutex_lock waits
paths pthread_mutex_unlock main -> waits pthread_mutex_lock waits
paths sem_post main -> waits sem_wait waits" ] || fail "flows: $(cat flows)"

rm -rf gprof-mt.data
"$gprof_mt" record -q -- "$GM_BUILD/examples/philosophers" 4 50 >out || fail "philosophers: exit status $?"
check
check --thread 'phil-[01]'

# Mutexes that a condition wait releases, at the same time as the thread's state changes.
cat >turns.c <<'END2'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;
static void *takes_turns(void *mine)
{
	for (int i = 0; i < 50; i++) {
		pthread_mutex_lock(&mutex);
		while (turn != (mine != NULL))
			pthread_cond_wait(&changed, &mutex);
		turn = !turn;
		pthread_cond_signal(&changed);
		usleep(200);
		pthread_mutex_unlock(&mutex);
	}
	return mine;
}
int main(void)
{
	pthread_t other;

	pthread_create(&other, NULL, takes_turns, &turn);
	takes_turns(NULL);
	return pthread_join(other, NULL);
}
END2
"$CC" -O1 -g -pthread -o turns turns.c || fail "cannot compile turns"
rm -rf gprof-mt.data
"$gprof_mt" record -q --set kernel.source=none -- ./turns || fail "turns: exit status $?"
check
exit 0
