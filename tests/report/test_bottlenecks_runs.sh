#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt bottlenecks` merges the runs of a program: means and standard deviations are those of the single reports, as
# Python computes them. Runs that failed and warm-up runs are left out; captures of other programs or builds, or that
# cannot be read, are reported, and the others count.
. "$GM_TOP/tests/lib.sh"
need python3

cat >shared.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER, list = PTHREAD_MUTEX_INITIALIZER;
static int rounds;
static void work_for(long ns)
{
	struct timespec start, now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < ns);
}
static void *work(void *unused)
{
	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&table);
		work_for(2000000);
		pthread_mutex_unlock(&table);
		pthread_mutex_lock(&list);
		work_for(20000);
		pthread_mutex_unlock(&list);
	}
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t threads[3];
	rounds = atoi(argv[1]);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return argc > 2 ? atoi(argv[2]) : 0;
}
END
"$CC" -O2 -g -o shared shared.c -pthread && "$CC" -O1 -g -DOTHER -o build.other shared.c -pthread || fail "cannot compile"
mkdir other && cp build.other other/shared
run()
{
	local dir=$1 status=0
	shift
	"$gprof_mt" record -q -o "$dir" --set sync.mode=all --set sync.paths=1us -- "$@" 2>err || status=$?
	same "exit status of $*" "${3-0}" $status
}
for i in 1 2 3 4; do
	run r$i ./shared 20
	"$gprof_mt" report -i r$i --format json bottlenecks >r$i.json || fail "report of r$i"
done
run failed ./shared 20 3
run built other/shared 5
cp build.other another && run foreign ./another 5

# merge [OPTION...] DIR...: to all.json and err
merge()
{
	"$gprof_mt" bottlenecks --format json "$@" >all.json 2>err
}
check='
import collections, json, statistics, sys
metric, runs = sys.argv[1], sys.argv[2:]
want, pathless = collections.defaultdict(lambda: [0] * len(runs)), set()
tables = [json.load(open(run + ".json"))["bottlenecks"] for run in runs]
def code(row):
    return row["type"], row["entry"], row["exit"]
for table in tables:
    pathless |= {code(row) for row in table if row["all_paths"]}
for at, table in enumerate(tables):
    for row in table:
        key = code(row) + (None if code(row) in pathless else row["path"],)
        value = row[metric + "_ns"]
        want[key][at] = max(want[key][at], value) if metric == "aplt" else want[key][at] + value
all_runs = json.load(open("all.json"))
n = 0
for name in "bottlenecks", "inconclusive":
    rows = all_runs[name]
    assert [row["mean_ns"] for row in rows] == sorted((row["mean_ns"] for row in rows), reverse=True), rows
    for row in rows:
        key = code(row) + (None if code(row) in pathless else row["path"],)
        values = want[key]
        mean, sigma = statistics.mean(values), statistics.stdev(values)
        assert abs(row["mean_ns"] - mean) <= 1 and abs(row["sigma_ns"] - sigma) <= 1, (row, values, mean, sigma)
        assert (sigma < 0.01 * mean) == (name == "bottlenecks"), (name, row, values)
        assert row["runs"] == sum(map(bool, values)), (row, values)
        assert row["least_ns"] == min(values) and row["most_ns"] == max(values), (row, values)
        n += 1
assert n == sum(map(any, want.values())), (n, want)
# All metrics, in the same order, with the value of each run.
of_metric = [(row, found) for row in all_runs["sections"] for found in row["metrics"] if found["metric"] == metric]
for name in "bottlenecks", "inconclusive":
    rows = [(row, found) for row, found in of_metric if found["conclusive"] == (name == "bottlenecks")]
    same = lambda row: [row[key] for key in ("lock", "type", "entry", "exit", "path")]
    assert [same(row) for row, _ in rows] == [same(row) for row in all_runs[name]], (name, rows)
    for (row, found), whole in zip(rows, all_runs[name]):
        assert all(found[key] == whole[key] for key in ("mean_ns", "sigma_ns", "sigma_pct", "least_ns", "most_ns", "runs")), (found, whole)
        key = code(row) + (None if code(row) in pathless else row["path"],)
        values = [run[metric + "_ns"] for run in row["by_run"]]
        assert [run["dir"] for run in row["by_run"]] == runs and all(abs(a - b) <= 1 for a, b in zip(values, want[key])), (row, want[key])
first = max(all_runs["bottlenecks"] + all_runs["inconclusive"], key=lambda row: row["mean_ns"])
assert first["lock"] == "table" and first["entry"].startswith("work (shared.c:"), first
'
for metric in apwt cpwt aplt mean; do
	merge --metric $metric r1 r2 r3 r4 || fail "--metric $metric: $(cat err)"
	python3 -c "$check" $metric r1 r2 r3 r4 || fail "--metric $metric: $(cat all.json)"
done
merge --warmup 1 r1 failed r2 r3 r4 || fail "--warmup: $(cat err)"
python3 -c "$check" apwt r2 r3 r4 || fail "--warmup, and a failed run: $(cat all.json)"
python3 - <<'END' || fail "runs: $(cat all.json)"
import json
runs = json.load(open("all.json"))["runs"]
assert [(run["run"], run["dir"], run["left_out"]) for run in runs] == [
    (1, "r1", "warm-up"), (2, "failed", "exit status 3"), (3, "r2", None), (4, "r3", None), (5, "r4", None)], runs
assert all(run["wall_ns"] > 0 and run["command"].startswith("./shared 20") for run in runs), runs
for run in runs:
    info = json.load(open(run["dir"] + "/info.json"))
    usage = {key: info["rusage"][key] for key in ("user_ns", "system_ns", "max_rss_bytes", "voluntary", "involuntary")}
    assert usage == {key: run[key] for key in usage} and run["cpus"] == info["host"]["cpus"] and run["threads"] in (2, 3, 4), (run, info)
    use = (run["user_ns"] + run["system_ns"]) / run["wall_ns"] / min(run["threads"], run["cpus"])
    assert abs(run["cpu_use_pct"] - 100 * use) < 1e-6, run
END

# Bad input: one line for each capture, and the others count.
status=0
merge r1 built foreign missing r2 || status=$?
same "exit status with captures of others" 1 $status
python3 -c "$check" apwt r1 r2 || fail "with captures of others: $(cat all.json)"
python3 - <<'END' || fail "captures that cannot be used: $(cat all.json)"
import json
runs = {run["dir"]: run for run in json.load(open("all.json"))["runs"]}
assert [runs[name]["left_out"] is None for name in ("r1", "built", "foreign", "missing", "r2")] == [True, False, False, False, True], runs
assert "another build" in runs["built"]["left_out"] and runs["missing"]["wall_ns"] is None, runs
END
same "lines of errors" 3 "$(wc -l <err)"
grep -q 'built: another build of shared than in r1 (build-ids [0-9a-f]* and [0-9a-f]*)' err || fail "builds: $(cat err)"
grep -q 'foreign: a run of another, but r1 is one of shared' err || fail "programs: $(cat err)"
grep -q 'missing' err || fail "no capture: $(cat err)"
# A run counts once, also if its capture was copied.
cp -r r1 copy
status=0
merge r1 r2 r1 copy || status=$?
same "exit status with a run named three times" 1 $status
python3 -c "$check" apwt r1 r2 || fail "with a run named three times: $(cat all.json)"
same "repeated runs" 2 "$(grep -cE '^gprof-mt: (r1|copy): the same run as r1, or a copy: name each run once$' err)"

# A run that is still being recorded, or was when record was killed, is no whole run.
"$gprof_mt" record -q -o part -- ./shared 100000 2>err &
until_true 20 compgen -G 'part/*/user/stream_1' >/dev/null || fail "no capture: $(cat err)"
merge r1 r2 part || fail "with a run that has not ended: $(cat err)"
kill -TERM $!
wait $! || true
python3 - <<'END' || fail "with a run that has not ended: $(cat all.json)"
import json
assert [run["left_out"] for run in json.load(open("all.json"))["runs"]] == [
    None, None, "cut short: record was killed, or has not ended"]
END
status=0
merge r1 failed || status=$?
same "exit status with one run" 1 $status
grep -q '1 of 2 runs can be used, expected two at least' err || fail "one run: $(cat err)"
status=0
merge r1 || status=$?
same "exit status with one capture" 2 $status
grep -q 'expected the directories of two captures at least' err || fail "one capture: $(cat err)"

"$gprof_mt" bottlenecks r1 r2 r3 r4 >text || fail "text"
grep -q '^  table *mutex *work (shared.c:[0-9]*) *work (shared.c:[0-9]*)' text || fail "text: $(cat text)"
grep -q 'note: cause: table (mutex), entered at work (shared.c:[0-9]*) and left at work .*: others lost .* to it in the mean of 4 runs' text ||
	fail "text: $(cat text)"
grep -q 'mean and standard deviation of APWT in 4 runs' text || fail "text: $(cat text)"
"$gprof_mt" bottlenecks --format csv --table inconclusive r1 r2 >rows.csv 2>err || fail "csv: $(cat err)"
head -n 1 rows.csv | grep -q '^lock,type,entry,exit,mean_ns,sigma_ns' || fail "csv: $(cat rows.csv)"
