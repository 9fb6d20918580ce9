#!/bin/bash
# SPDX-License-Identifier: MIT
#
# OpenMP's critical sections, locks and barriers: the numbers of operations are those that the program makes, the
# section that dominates comes first, with its waits' call sites and holders, where everything is recorded and
# where only waits are; the program's results are those without recording, whether libgomp's threads spin or
# sleep.  A program without libgomp sees none of its names.
. "$GM_TOP/tests/lib.sh"

"$CC" -fopenmp -x c - -o none <<<'int main(void) { return 0; }' 2>none.err || skip "the compiler has no OpenMP"
build openmp -fopenmp
N=200
for mode in all contended; do
	for policy in active passive; do
		OMP_WAIT_POLICY=$policy ./openmp $N >bare 2>bare.err || fail "bare: exit status $?"
		fresh env OMP_WAIT_POLICY=$policy "$gprof_mt" record -q --set kernel.source=none \
			--set sync.mode=$mode -- ./openmp $N >out 2>err || fail "$mode: exit status $?: $(cat err)"
		same "results, $mode, $policy" "$(cat bare)" "$(cat out)"
		"$gprof_mt" report --format json summary locks sync quality >report.json || fail "$mode: report"
		python3 - $mode $N "$(sed -n 's/^failed //p' err)" <<'PY' || fail "$mode, $policy: see above"
import json, sys
mode, n, failed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
report = json.load(open("report.json"))
assert not [p for p in report["quality"] if p["count"]], report["quality"]
calls = {}
for row in report["sync"]:
    calls[row["function"]] = calls.get(row["function"], 0) + row["calls"]
expected = {"GOMP_critical_start": 8 * n + 2, "GOMP_critical_end": 8 * n + 2, "omp_set_lock": 12 * n,
            "omp_test_lock": 4 * n + failed, "omp_unset_lock": 16 * n, "omp_init_lock": 2, "omp_destroy_lock": 2,
            "GOMP_barrier": 4 * n}
assert {name: calls.get(name) for name in expected} == expected, (calls, expected)
locks = {lock["name"]: lock for lock in report["locks"]}
busy = locks["critical busy"]
print(mode, "busy contended", busy["contended"], "in", busy["wait_ns"], "ns; failed tries", failed)
assert busy["contended"] >= 1 and busy["type"] == "mutex", busy
holders = set()
for site in busy["sites"]:
    for holder in site["holders"]:
        assert site["site"].startswith("enter_busy"), site
        holders.add(holder["site"] and holder["site"].split(" ")[0])
assert "hold_busy" in holders and holders <= {"hold_busy", "enter_busy"}, holders
if mode == "all":
    assert busy["acquired"] == 4 * n + 2 and busy["hold_ns"] >= 4 * n * 50000, busy
    assert locks["lock"]["acquired"] == 8 * n and locks["nest_lock"]["acquired"] == 8 * n, locks
if failed:
    assert locks["lock"]["failed_tries"] == failed, locks["lock"]
assert [l for l in report["locks"] if l["type"] == "barrier" and l["contended"] == 4 * n], locks
assert "ordered regions" in report["summary"][0]["openmp"], report["summary"]
PY
	done
done

cat >weak.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
extern void GOMP_barrier(void) __attribute__((weak));
extern void omp_set_lock(void *) __attribute__((weak));
int main(void)
{
	printf("%d %d %d\n", GOMP_barrier != 0, omp_set_lock != 0, dlsym(RTLD_DEFAULT, "GOMP_barrier") != 0);
	return 0;
}
END
"$CC" -O1 -o weak weak.c || fail "cannot compile"
fresh "$gprof_mt" record -q -- ./weak >out || fail "weak: exit status $?"
same "names of libgomp in a program without it" "0 0 0" "$(cat out)"
exit 0
