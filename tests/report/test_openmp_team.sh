#!/bin/bash
# SPDX-License-Identifier: MIT
#
# OpenMP's teams: the waits at the end of parallel regions, at barriers and for tasks, and the time of a team's
# threads without a region, are those that the program measures itself, without the tasks that a thread runs
# while it waits, whether libgomp's threads spin or sleep, and where only waits are recorded.  The thread
# waited for is the last to arrive, and the critical path goes through it.  The program's results are those
# without recording; exceptions stay in their regions and tasks.
. "$GM_TOP/tests/lib.sh"

"$CC" -fopenmp -x c - -o none <<<'int main(void) { return 0; }' 2>none.err || skip "the compiler has no OpenMP"
build openmp_team -fopenmp
export OMP_CANCELLATION=true
ROUNDS=4

cat >check.py <<'PY'
import json, subprocess, sys
report = json.load(open("report.json"))
mode, rounds = sys.argv[1], int(sys.argv[2])
assert not [p for p in report["quality"] if p["count"]], report["quality"]
waits = {}
calls = {}
for row in report["sync"]:
    waits[row["tid"], row["function"]] = row["wait_ns"]
    calls[row["function"]] = calls.get(row["function"], 0) + row["calls"]
# regions of several threads: those of shares() and tasks(), five loops and sections, one with two within, cancelled
assert calls["GOMP_parallel"] == rounds + 1 + 5 + 3 + 1, calls
functions = ["GOMP_parallel_end", "GOMP_parallel (idle)", "GOMP_taskwait", "GOMP_barrier"]
# The program keeps no account of the regions in its other functions.
ends_ns = sum(site["wait_ns"] for lock in report["locks"] for site in lock["sites"]
              if site["function"] == "GOMP_parallel_end" and site["site"].startswith(("shares ", "tasks ")))
accounts = [[int(word) for word in line.split()] for line in open("err")]
delays = sum(account[5] for account in accounts)
for column, function in enumerate(functions, 1):
    for account in accounts:
        own, ours, delay = account[column], waits.get((account[0], function), 0), account[5]
        if function == "GOMP_parallel_end":
            own, ours = sum(account[column] for account in accounts), ends_ns
            delay = delays
        if function == "GOMP_parallel (idle)" and own:
            continue  # the last such wait goes on until the end
        # Between our stamps and the program's, its thread may only have waited for a CPU.
        assert abs(own - ours) <= own * 0.05 + 500000 + delay, (function, account, ours)
idle = sum(account[2] for account in accounts)
locks = [lock for lock in report["locks"] if lock["name"].startswith("thread at shares")]
assert len(locks) == 1 and locks[0]["idle_ns"] == locks[0]["wait_ns"] >= idle * 0.95 - delays, (idle, locks)
joins = [lock for lock in report["locks"] if lock["name"].startswith("barrier at shares")]
assert len(joins) == 1 and joins[0]["type"] == "barrier" and joins[0]["idle_ns"] == 0, joins
# the last round's last thread is the one that began the region
assert joins[0]["contended"] == rounds - 1 and joins[0]["acquired"] == 2 * rounds - 1, joins
edges = json.load(open("wait.json"))["edges"]
ends = [(edge["from"], edge["to"]) for edge in edges for wait in edge["waits"]
        if wait["name"].startswith("barrier at shares")]
assert ends == [(accounts[0][0], accounts[1][0])], ends
path = {row["tid"]: row["path_ns"] for row in report["critical_threads"]}
assert path[accounts[1][0]] >= 0.9 * joins[0]["wait_ns"] - delays, (path, joins)
PY

# accounts MODE POLICY
accounts()
{
	export OMP_WAIT_POLICY=$2
	rm -rf gprof-mt.data gprof-mt.data.old
	"$gprof_mt" record -q --set kernel.source=none --set "sync.mode=$1" -- ./openmp_team $ROUNDS >out 2>err ||
		fail "$1, $2: exit status $?: $(cat err)"
	same "results" "$(cat bare)" "$(cat out)"
	"$gprof_mt" report --format json sync locks quality critical-path >report.json || fail "report"
	"$gprof_mt" graph --kind wait --format json >wait.json || fail "graph"
	python3 check.py "$1" $ROUNDS || fail "$1, $2: see above"
}

./openmp_team $ROUNDS >bare 2>bare.err || fail "bare: exit status $?"
for mode in all contended; do
	for policy in active passive; do
		accounts $mode $policy
	done
done

# More functions of tasks than there are stubs: results are the same, and no task counts as a wait.
{
	echo 'static int n; int main(void) {'
	echo '_Pragma("omp parallel num_threads(2)") _Pragma("omp single") {'
	for ((i = 0; i < 300; i++)); do
		printf '_Pragma("omp task") _Pragma("omp atomic") n += %d;\n' $i
	done
	echo '_Pragma("omp taskwait") } return n == 44850 ? 0 : 1; }'
} >many.c
"$CC" -fopenmp -o many many.c || fail "cannot compile"
fresh "$gprof_mt" record --set kernel.source=none -- ./many 2>err || fail "many functions of tasks: exit status $?"
"$gprof_mt" report --format json sync | jq -e '[.sync[] | select(.function == "GOMP_taskwait")] == []' >none ||
	fail "a wait for tasks of unknown functions is recorded"
# The wait for the tasks, and the ends of the shares of both threads; each again after a task that ran in it.
left_out=$("$gprof_mt" report --format json quality |
	jq '[.quality[] | select(.what | test("256 functions of tasks")) | .count] | add') || fail "quality"
[ "$left_out" -ge 1 ] && [ "$left_out" -le 304 ] || fail "waits that are not recorded: $left_out"
grep -q "lost: .*256 functions of tasks: $left_out" err || fail "record does not count them: $(cat err)"

cat >throws.cc <<'END'
#include <cstdio>
int main()
{
	int n = 0;
#pragma omp parallel num_threads(3) reduction(+ : n)
	{
		try {
			throw 1;
		} catch (int one) {
			n += one;
		}
#pragma omp single
		{
#pragma omp task shared(n)
			try {
				throw 10;
			} catch (int ten) {
				n += ten;
			}
#pragma omp taskwait
		}
	}
	std::printf("%d\n", n);
	return 0;
}
END
if "${CXX:-g++}" -fopenmp -o throws throws.cc 2>throws.err; then
	fresh "$gprof_mt" record -q --set kernel.source=none -- ./throws >out || fail "throws: exit status $?"
	same "exceptions" "$(./throws)" "$(cat out)"
fi
exit 0
