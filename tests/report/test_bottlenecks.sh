#!/bin/bash
# SPDX-License-Identifier: MIT
# `report bottlenecks` has the waits of a program's own account at the critical sections that it names, and finds the
# section behind another one: most threads wait for a lock whose holder itself waits for another lock.
. "$GM_TOP/tests/lib.sh"
need python3
export PYTHONPATH=$GM_TOP/tests/captures PYTHONDONTWRITEBYTECODE=1

report()
{
	"$gprof_mt" report -i d --format json threads sync locks io calltree bottlenecks >report.json 2>err ||
		fail "report: $(cat err)"
}

build blamed -O2
for mode in all contended; do
	rm -rf d
	"$gprof_mt" record -q -o d --set sync.mode=$mode --set sync.paths=1us --set sample.hz=0 ./blamed 150 >account 2>err ||
		fail "record: $(cat err)"
	report
	python3 - <<-'END' || fail "$mode: see above: $(cat account)"
	import json, sums
	report = json.load(open("report.json"))
	wrong = sums.mismatches(report)
	assert not wrong, wrong
	account = {line.split()[0]: int(line.split()[1]) for line in open("account")}
	rows = [row for row in report["bottlenecks"] if row["lock"] == "lock"]
	for name, of in account.items():
	    found = sum(row["apwt_ns"] for row in rows if row["entry"].startswith(name + " ("))
	    assert found >= 0.9 * of, (name, of, found)
	assert rows[0]["entry"].split(" (")[0] in account, rows[0]
	END
done

cat >behind.c <<'END'
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#define ROUNDS 30
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER, outer = PTHREAD_MUTEX_INITIALIZER;
static atomic_int done;
static void work_for(long ns)
{
	struct timespec start, now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < ns);
}
static void *deep(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&inner);
		work_for(12000000);
		pthread_mutex_unlock(&inner);
		work_for(50000);
	}
	done = 1;
	return unused;
}
static void *middle(void *unused)
{
	while (!done) {
		pthread_mutex_lock(&outer);
		pthread_mutex_lock(&inner);
		pthread_mutex_unlock(&inner);
		pthread_mutex_unlock(&outer);
	}
	return unused;
}
static void *user(void *unused)
{
	while (!done) {
		pthread_mutex_lock(&outer);
		pthread_mutex_unlock(&outer);
		work_for(50000);
	}
	return unused;
}
int main(void)
{
	static void *(*const routines[])(void *) = {deep, middle, user, user, user};
	pthread_t threads[5];
	for (int i = 0; i < 5; i++)
		pthread_create(&threads[i], NULL, routines[i], NULL);
	for (int i = 0; i < 5; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
"$CC" -O2 -g -o behind behind.c -pthread || fail "cannot compile"
rm -rf d
"$gprof_mt" record -q -o d --set sync.mode=all ./behind 2>err || fail "record: $(cat err)"
report
python3 - <<'END' || fail "see above"
import json, sums
report = json.load(open("report.json"))
wrong = sums.mismatches(report)
assert not wrong, wrong
deep = [row for row in report["bottlenecks"] if row["lock"] == "inner" and row["entry"].startswith("deep (") and
        row["exit"].startswith("deep (")]
waits = {row["name"]: row["wait_ns"] for row in report["locks"]}
aplt = {row["name"]: row["aplt_ns"] for row in report["bottleneck_locks"]}
# The threads that wait for the outer lock wait for the inner one in fact, while its user does.
assert waits["outer"] > 0 and aplt.get("outer", 0) < waits["outer"], (aplt, waits)
assert sum(row["apwt_ns"] for row in deep) > 1.2 * waits["inner"], (deep, waits)
END
"$gprof_mt" report -i d bottlenecks >text || fail "text"
grep -q '^  inner *mutex *[0-9]* *deep (behind.c:[0-9]*) *deep (behind.c:[0-9]*)' text || fail "text: $(cat text)"
for metric in apwt cpwt aplt mean; do
	for clock in wall running; do
		"$gprof_mt" report -i d --format csv --metric $metric --clock $clock bottlenecks >rows.csv 2>err ||
			fail "--metric $metric --clock $clock: $(cat err)"
		python3 - $metric <<-'END' || fail "--metric $metric --clock $clock: $(cat rows.csv)"
		import csv, sys
		values = [float(row[sys.argv[1] + "_ns"]) for row in csv.DictReader(open("rows.csv"))]
		assert values and values == sorted(values, reverse=True), values
		END
	done
done
cat >unused.c <<'END'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t signaled = PTHREAD_COND_INITIALIZER;
int main(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	pthread_cond_signal(&signaled);
	return 0;
}
END
"$CC" -O2 -g -o unused unused.c -pthread || fail "cannot compile"
"$gprof_mt" record -q -o unused.data --set sync.mode=all ./unused 2>err || fail "record: $(cat err)"
for object in lock signaled; do
	"$gprof_mt" report -i unused.data --object $object bottlenecks >text 2>err || fail "--object $object: $(cat err)"
done
grep -q '^Critical sections$' text || fail "--object signaled: $(cat text)"
status=0
"$gprof_mt" report -i unused.data --object other bottlenecks 2>err || status=$?
[ $status != 0 ] && grep -q 'other' err || fail "--object other: status $status: $(cat err)"

status=0
"$gprof_mt" report -i d --metric most bottlenecks 2>err || status=$?
same "exit status of --metric most" 2 "$status"
grep -q "invalid --metric 'most' (expected apwt, cpwt, aplt or mean)" err || fail "--metric most: $(cat err)"
status=0
"$gprof_mt" report -i d --clock running locks 2>err || status=$?
same "exit status of --clock running locks" 2 "$status"
grep -q -- '--clock is for section bottlenecks' err || fail "--clock running locks: $(cat err)"
