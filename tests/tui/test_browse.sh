#!/bin/bash
# SPDX-License-Identifier: MIT
# The browser in a terminal, at three sizes: it shows what `history`, `report` and `graph` print for the same
# capture.
. "$GM_TOP/tests/tui/common.sh"
expect=$GM_TOP/tests/tui/expect.py

"$gprof_mt" record -q -- "$GM_BUILD/examples/philosophers" 4 50 >/dev/null || fail record
"$gprof_mt" history --order object >history.txt || fail history
"$gprof_mt" history --format json >history.json || fail history
"$gprof_mt" report --format json threads >threads.json || fail report
"$gprof_mt" graph --kind wait --format json >graph.json || fail graph
"$gprof_mt" report --format json calltree >calltree.json || fail calltree
"$gprof_mt" report --format json calltree --bottom-up >bottom-up.json || fail "calltree --bottom-up"
tree=$(python3 "$expect" tree calltree.json '>') || fail "see above"
callers=$(python3 "$expect" tree bottom-up.json '<') || fail "see above"
python3 "$expect" plan history.json graph.json >plan || fail "see above"
# shellcheck disable=SC1091
. ./plan
tid=$(python3 -c 'import json; print(json.load(open("threads.json"))["threads"][1]["tid"])')

# on OBJECT: selects OBJECT, and the list shows its operations.
on()
{
	keys o /
	shows '/'
	types "$1"
	keys Enter
	shows " $1: "
}

# at N OF: the N-th of OF items is selected.
at()
{
	shows ": $1 of $2"
}

browse()
{
	local columns=$1 rows=$2
	terminal "$columns" "$rows"
	run "$gprof_mt browse; echo status=\$?"
	shows 'gprof-mt browse gprof-mt.data'
	shows 'THREADS 5'
	shows "OBJECTS $n_objects"
	shows 'q quit'
	on "$barrier"
	keys Enter Home
	at 1 "$n_barrier"
	screen >screen.txt
	python3 "$expect" rows screen.txt history.txt "$barrier" || fail "see above"

	# From wait to wait, and only the waits.
	keys ']'
	at "$wait" "$n_barrier"
	shows "$wait_line"
	keys c
	shows "WAITS on barrier $barrier: 1 of $n_waits"
	keys G
	at "$n_waits" "$n_waits"
	keys j
	at "$n_waits" "$n_waits"
	keys Home c
	at "$wait" "$n_barrier"
	keys '['
	shows 'no wait before this'

	# The source of the call, and the graph.
	keys s
	shows SOURCE
	until_true 60 eval 'screen | grep -q "^> *$source "' || fail "not the line $source: $(screen)"
	keys Enter Home
	shows 'SPDX-License-Identifier: MIT'
	keys G
	shows 'free(table.forks);'
	keys s
	shows DETAILS
	keys g
	shows 'who waits for whom'
	shows "$(cut -c "1-$columns" <<<"$edge")"
	keys q
	shows "OBJECTS $n_objects"
	keys p
	shows 'call tree'
	shows "${tree:0:45}"
	keys q P
	shows 'call tree, bottom-up'
	shows "${callers:0:45}"
	keys q
	shows "OBJECTS $n_objects"

	# From a lock to its unlock, and back.
	on "$mutex"
	keys Enter Home
	at 1 "$n_mutex"
	for _ in $(seq 2 "$lock"); do keys j; done
	at "$lock" "$n_mutex"
	keys m
	at "$unlock" "$n_mutex"
	shows 'matches (m): mutex_lock'
	keys m
	at "$lock" "$n_mutex"
	keys BSpace
	at "$unlock" "$n_mutex"

	# Searches the first unlock by its name; a name that does not occur is not found.
	keys Home /
	types MUTEX_unlock
	keys Enter
	at "$unlock" "$n_mutex"
	keys /
	types zzz
	keys Enter
	shows 'not found: zzz'
	at "$unlock" "$n_mutex"

	# A thread.
	keys 0 t Home /
	shows '/'
	types "$tid"
	keys Enter
	shows "(tid $tid)"
	shows 'lived from'
	until_true 60 eval 'screen >screen.txt; python3 "$expect" thread screen.txt threads.json "$tid" 2>err' ||
		fail "$(cat err)"
	keys q
	shows 'status=0'
	hides DETAILS
}
browse 80 24
browse 120 40
browse 200 60

# Threads with the same name are distinguished, and the releaser is not the waiter.
cat >alike.c <<'END'
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int readers;

static void *read_it(void *arg)
{
	pthread_rwlock_rdlock(&lock);
	readers++;
	usleep(300000);
	pthread_rwlock_unlock(&lock);
	return arg;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, read_it, NULL);
	while (readers < 2)
		usleep(1000);
	pthread_rwlock_wrlock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
"$CC" -O1 -g alike.c -o alike -pthread || fail 'cannot compile alike'
"$gprof_mt" record -q -o alike.data ./alike || fail 'record alike'
"$gprof_mt" graph -i alike.data --kind wait --format json >alike.json || fail 'graph --kind wait fails'
edges=$(python3 -c 'import json
for edge in json.load(open("alike.json"))["edges"]:
    if edge["to"] is not None and edge["waits"][0]["type"] == "rwlock":
        print(edge["from"], edge["to"])') || fail 'no edges'
read -r _ to <<<"$edges"
terminal 120 40
run "$gprof_mt browse -i alike.data; echo status=\$?"
shows 'q quit'
keys g
shows "$(printf '%-12s -> %-12s' alike "$to read_it")"
keys q
on 'rwlock lock'
keys Enter Home ']'
shows 'rwlock_wrlock by alike'
shows ", for $to read_it ("
shows "ended by (m): rwlock_unlock by read_it (tid $to)"
keys q
shows 'status=0'
