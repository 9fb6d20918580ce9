#!/bin/bash
# SPDX-License-Identifier: MIT
# The functions that gcc makes of OpenMP's regions and tasks are called by our functions in libsync-trace. Call graphs
# show the function of the program that contains them, with exact counts, and never ours.
. "$GM_TOP/tests/lib.sh"
need jq

cat >team.c <<'END_C'
#include <stdio.h>
static int n;
__attribute__((noinline)) static void count(int by)
{
	__atomic_fetch_add(&n, by, __ATOMIC_RELAXED);
}
__attribute__((noinline)) void shared(void)
{
	for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(3)
		count(1);
	}
}
__attribute__((noinline)) void tasked(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
	for (int i = 0; i < 7; i++) {
#pragma omp task
		count(100);
	}
}
int main(void)
{
	shared();
	tasked();
	printf("%d\n", n);
	return 0;
}
END_C
"$CC" -std=gnu17 -fopenmp -pg -g -O1 -o team team.c 2>err || skip "the compiler has no OpenMP"
"$gprof_mt" record -q --set kernel.source=none --set sync.mode=all -o d -- ./team >out || fail "exit status $?"
same "result" 715 "$(cat out)"
"$gprof_mt" report -i d --format json callgraph >report.json || fail "callgraph"
# callers of a function, with the calls of all threads
callers() { jq -r --arg to "$1" '[.arcs[] | select(.to == $to)] | group_by(.from)[] | "\(.[0].from) \(map(.calls) | add)"' report.json; }
same "regions" "shared 15" "$(callers shared._omp_fn.0)"
same "regions with a task" "tasked 2" "$(callers tasked._omp_fn.0)"
same "tasks" "tasked 7" "$(callers tasked._omp_fn.1)"
same "calls in regions and tasks" "shared._omp_fn.0 15
tasked._omp_fn.1 7" "$(callers count)"
same "text" 0 "$("$gprof_mt" report -i d callgraph | grep -c 'openmp_share\|run_task\|libsync')"
"$gprof_mt" graph -i d --kind calls --format json >graph.json || fail "graph"
same "graph" "shared shared._omp_fn.0 15" "$(jq -r '(.nodes | map({(.id | tostring): .name}) | add) as $name | .edges[]
	| select($name[.to | tostring] == "shared._omp_fn.0") | "\($name[.from | tostring]) \($name[.to | tostring]) \(.count)"' graph.json)"
for format in callgrind pprof; do
	"$gprof_mt" export -q -i d --format $format -o out.$format || fail "$format"
	! { gzip -dcf out.$format | grep -a 'openmp_share\|st_GOMP_run_task'; } || fail "$format shows our functions"
done
grep -A3 -E '^c?fn=.*shared$' out.callgrind | grep -q . || fail "callgrind: no function shared()"

# A region in a static function that is only inlined has no such function: its caller is not known.
cat >inlined.c <<'END_C'
static int n;
static inline __attribute__((always_inline)) void region(void)
{
#pragma omp parallel num_threads(2)
	__atomic_fetch_add(&n, 1, __ATOMIC_RELAXED);
}
int main(void)
{
	region();
	return n != 2;
}
END_C
"$CC" -std=gnu17 -fopenmp -pg -g -O2 -o inlined inlined.c || fail "cannot compile"
"$gprof_mt" record -q --set kernel.source=none -o e -- ./inlined || fail "inlined: exit status $?"
"$gprof_mt" report -i e --format json callgraph >report.json || fail "callgraph"
same "inlined" "<spontaneous> 2" "$(callers region._omp_fn.0)"
exit 0
