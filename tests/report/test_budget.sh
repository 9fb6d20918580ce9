#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt diff --budget`: each quantity is the one that Python computes from the reports, with means, deviations and
# margins over several captures; noise fails no build, and a regression does, with status 3; quantities that were not
# measured are errors; JUnit's XML is what Python's parser reads.
. "$GM_TOP/tests/lib.sh"
need jq python3

# Both threads take the lock in each round, and work while they hold it. A file has the number of calls of step() and
# the time, so that runs of one command differ.
cat >gated.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, idle = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static volatile unsigned sum;
static long hold_ms;
__attribute__((noinline)) static void step(void)
{
	sum = sum + 1;
}
__attribute__((noinline)) static void work_for(long ns)
{
	struct timespec start, now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < ns);
}
static void *work(void *name)
{
	pthread_setname_np(pthread_self(), name);
	for (int i = 0; i < 3; i++) {
		pthread_barrier_wait(&both);
		pthread_mutex_lock(&lock);
		work_for(hold_ms * 1000000);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t threads[2];
	FILE *file = fopen("steps", "r");
	int n = 0;
	if (!file || fscanf(file, "%d %ld", &n, &hold_ms) != 2)
		return 1;
	fclose(file);
	pthread_mutex_lock(&idle);
	pthread_mutex_unlock(&idle);
	pthread_barrier_init(&both, NULL, 2);
	for (int i = 0; i < n; i++)
		step();
	pthread_create(&threads[0], NULL, work, "first one");
	pthread_create(&threads[1], NULL, work, "next");
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return argc > 1 ? atoi(argv[1]) : 0;
}
END
"$CC" -D_GNU_SOURCE -O1 -g -pg -Wl,--build-id -o gated gated.c -pthread || fail "cannot compile"

# run DIR STEPS HOLD_MS [ARG...]
run()
{
	local dir=$1
	echo "$2 $3" >steps
	shift 3
	mkdir -p "${dir%/*}"
	"$gprof_mt" record -q -o "$dir" -- ./gated "$@" >out 2>err
}
n=0
for steps in 100 104 96 100; do
	run before/$((++n)) $steps 2 || fail "record: $(cat err)"
	run same/$n $((steps + 1)) 2 || fail "record: $(cat err)"
	run more/$n $((steps + 30)) 60 || fail "record: $(cat err)"
done

# gate STATUS ARG...: prints JSON to json
gate()
{
	local want=$1 got
	shift
	"$gprof_mt" diff --format json "$@" >json 2>err
	got=$?
	[ $got = "$want" ] || fail "diff $*: expected status $want, got $got: $(cat err json)"
}
verdict()
{
	same "verdict of '$1'" "$2" "$(jq -r --arg b "$1" '.budgets[] | select(.budget == $b) | .verdict' json)"
}

# Noise of four runs each; one of these alone exceeds the budget.
budget='calls of step < +0 %'
gate 0 --budget "$budget" before same
verdict "$budget" 'within noise'
gate 3 --budget "$budget" before/1 same/1
verdict "$budget" exceeded
jq -e '[.notes[].note | select(startswith("noise is unknown"))] | length == 1' json >/dev/null || fail "not said: $(cat json)"
gate 3 --budget "$budget" before more
verdict "$budget" exceeded
# A list, and a list of folders, name the same captures.
cp json json.folder
gate 3 --budget "$budget" before/1,before/2,before/3,before/4 more
diff json.folder json >differ || fail "a list: $(cat differ)"

# A real regression, of the CPU time, which other load on the machine hardly changes: 18 times as much in work_for().
cat >budgets <<'END'
# of the example

waits for lock < +500 %
	waits for lock < 1 s
calls of step < +31
run time < 100 s
waits for idle < 0 s
acquisitions of lock < 6
contended acquisitions of lock < +0 %
blame of lock < 99.9 %
longest wait for lock < 100 s
CPU time < 100 s
CPU time < +100 %
waits < 100 %
time in work_for < 100 s
lifetime of first one < 100 s
running of n?xt < 100 %
runnable of next < 100 %
blocked of work < 99.9 %
END
gate 3 --budget budgets --junit junit.xml before more
verdict 'CPU time < +100 %' exceeded
verdict 'waits for idle < 0 s' met
verdict 'acquisitions of lock < 6' met
verdict 'calls of step < +31' met
same "number of budgets" 17 "$(jq '.budgets | length' json)"
same "first budget" exceeded "$(jq -r '.budgets[0].verdict' json)"

for dir in before/? more/?; do
	"$gprof_mt" report -i "$dir" --format json summary threads locks blame flat >"${dir/\//.}.json" 2>err || fail "report: $(cat err)"
done
python3 - <<'END' || fail "other values than in the reports"
import json, math, statistics
import xml.etree.ElementTree as tree


def student(freedom):
    """The 97.5 % quantile: small degrees of freedom are rounded down, as a greater margin is the careful one."""
    freedom = math.floor(freedom) if freedom <= 4 else freedom
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    low, high = 0, 100
    for _ in range(40):
        t = (low + high) / 2
        n = 2000
        area = sum(scale * (1 + (t * (i + .5) / n) ** 2 / freedom) ** (-(freedom + 1) / 2) for i in range(n)) * t / n
        low, high = (t, high) if area < 0.475 else (low, t)
    return low


def total(rows, column, where=lambda row: True):
    return sum(row[column] for row in rows if where(row))


def of_lock(row):
    return row["name"] == "lock"


def lifetime(report):
    return total(report["threads"], "lifetime_ns")


values = {
    "waits for lock": lambda r: total(r["locks"], "wait_ns", of_lock) - total(r["locks"], "idle_ns", of_lock),
    "calls of step": lambda r: total(r["functions"], "calls", lambda f: f["name"] == "step"),
    "run time": lambda r: r["summary"][0]["wall_ns"],
    "waits for idle": lambda r: 0,
    "acquisitions of lock": lambda r: 6,
    "contended acquisitions of lock": lambda r: total(r["locks"], "contended", of_lock),
    "blame of lock": lambda r: 100 * total(r["blame"], "wait_ns", lambda b: of_lock(b) and b["kind"] == "holder") / lifetime(r),
    "longest wait for lock": lambda r: max(l["wait_max_ns"] for l in r["locks"] if of_lock(l)),
    "CPU time": lambda r: r["summary"][0]["running_ns"],
    "waits": lambda r: 100 * (r["summary"][0]["sync_wait_ns"] - r["summary"][0]["sync_idle_ns"]) / lifetime(r),
    "time in work_for": lambda r: 1e9 * total(r["functions"], "self_s", lambda f: f["name"] == "work_for"),
    "lifetime of first one": lambda r: total(r["threads"], "lifetime_ns", lambda t: t["name"] == "first one"),
    "running of n?xt": lambda r: share(r, "running_ns", lambda t: t["name"] == "next"),
    "runnable of next": lambda r: share(r, "runnable_ns", lambda t: t["name"] == "next"),
    "blocked of work": lambda r: share(r, "blocked_sync_ns", lambda t: t["group"] == "work"),
}


def share(report, column, where):
    return 100 * total(report["threads"], column, where) / total(report["threads"], "lifetime_ns", where)


def near(budget, got, want):
    assert math.isclose(got, want, rel_tol=3e-3, abs_tol=1e-6), (budget, got, want)


reports = {side: [json.load(open(f"{side}.{i}.json")) for i in range(1, 5)] for side in ("before", "more")}
document = json.load(open("json"))
cases = {case.get("name"): case for case in tree.parse("junit.xml").getroot().iter("testcase")}
assert len(cases) == len(document["budgets"]) == 17
for row in document["budgets"]:
    quantity, bound = row["budget"].split(" < ")
    if not bound.endswith("%") or bound.startswith("+"):
        assert row["unit"] == ("count" if quantity.startswith(("calls", "acq", "cont")) else "ns"), row
    else:
        assert row["unit"] == "%", row
    measure = values[quantity]
    a, b = ([measure(report) for report in reports[side]] for side in ("before", "more"))
    near(row, row["a_mean"], statistics.mean(a))
    near(row, row["b_mean"], statistics.mean(b))
    near(row, row["a_sigma"], statistics.stdev(a))
    near(row, row["b_sigma"], statistics.stdev(b))
    assert row["a_captures"] == row["b_captures"] == 4
    factor, var_a, var_b = 1, statistics.variance(a) / 4, statistics.variance(b) / 4
    if bound.startswith("+"):
        if bound.endswith("%"):
            factor = 1 + float(bound[1:-1]) / 100
        limit = factor * statistics.mean(a) + (0 if bound.endswith("%") else float(bound))
        var_a *= factor * factor
    else:
        limit = float(bound.split()[0]) * {"s": 1e9, "%": 1}.get(bound.split()[-1], 1)
        var_a = 0
    near(row, row["limit"], limit)
    margin = 0
    if var_a + var_b:
        margin = math.sqrt(var_a + var_b) * student((var_a + var_b) ** 2 / (var_a ** 2 / 3 + var_b ** 2 / 3))
    near(row, row["margin"], margin)
    over = row["b_mean"] - row["limit"]
    near(row, row["over"], over)
    verdict = "met" if over <= 0 else "within noise" if over <= row["margin"] else "exceeded"
    assert row["verdict"] == verdict, row
    case = cases[row["budget"]]
    assert case.get("classname") == "gprof-mt.budget"
    assert (case.find("failure") is not None) == (verdict == "exceeded") and case.find("error") is None, row
    if verdict == "exceeded":
        assert case.find("failure").get("type") == "exceeded"
        assert " above the limit of " in case.find("failure").get("message")
for element in (tree.parse("junit.xml").getroot(), tree.parse("junit.xml").getroot().find("testsuite")):
    assert element.get("tests") == "17" and element.get("errors") == "0", element.attrib
    assert int(element.get("failures")) == sum(row["verdict"] == "exceeded" for row in document["budgets"])
END

# Text has the same verdicts; CSV has one row per budget.
"$gprof_mt" diff --budget budgets before more >text 2>err
[ $? = 3 ] || fail "text: $(cat err)"
grep -Eq '^  CPU time < \+100 % +exceeded +' text && grep -q 'note: [0-9]* of 17 budgets exceeded, 0 not measured' text ||
	fail "text: $(cat text)"
"$gprof_mt" diff --format csv --budget budgets before more >csv 2>err
[ $? = 3 ] && [ "$(wc -l <csv)" = 18 ] || fail "csv: $(cat csv err)"

# A quantity that was not measured is never met: another name, no scheduling events, no synchronization, a program that
# failed, a damaged capture, operations that were only counted.
unmeasured()
{
	local budget=$1 reason=$2
	shift 2
	"$gprof_mt" diff --budget "$budget" --junit junit.xml "$@" >out 2>err
	[ $? = 1 ] && grep -qF "'$budget' was not measured: $reason" err && grep -q 'not measured' out || fail "$budget: $(cat out err)"
	python3 -c '
import sys, xml.etree.ElementTree as tree
error, = tree.parse("junit.xml").getroot().iter("error")
assert sys.argv[1] in error.get("message") and error.get("type") == "not measured"' "$reason" || fail "$(cat junit.xml)"
}
unmeasured 'calls of stop < 1000' "B has no function 'stop'" before/1 same
unmeasured 'waits for lok < 100 s' "B has no object 'lok'" before/1 same/1
unmeasured 'running of third < +3 %' "B has no thread 'third'" before/1 same/1
echo 100 2 >steps
for setting in kernel.source=none sync.mode=off sync.mode=contended; do
	"$gprof_mt" record -q -o $setting --set $setting -- ./gated >out 2>err || fail "record: $(cat err)"
done
unmeasured 'CPU time < 100 s' "kernel.source=none: the capture has no scheduling events" before kernel.source=none
unmeasured 'CPU time < +3 %' "kernel.source=none: the capture has no scheduling events" kernel.source=none before
unmeasured 'waits for lock < 100 s' "sync.mode=off: the capture has no record of synchronization" before sync.mode=off
unmeasured 'acquisitions of lock < 7' "sync.mode=contended: not all operations were recorded" before sync.mode=contended
"$CC" -D_GNU_SOURCE -O1 -g -Wl,--build-id -o uncounted gated.c -pthread && "$gprof_mt" record -q -o uncounted.data -- ./uncounted >out 2>err ||
	fail "record: $(cat err)"
"$gprof_mt" diff --budget 'calls of step < 100' before uncounted.data >out 2>err
[ $? = 1 ] && grep -qE "calls are counted in programs built with -pg only|B has no function 'step'" err || fail "no counts: $(cat out err)"
run failed/1 100 2 3
unmeasured 'run time < 100 s' "failed/1: exit status 3" before failed
cp -r same/1 cut
stream=$(find cut -path '*/user/*' -name 'stream*' -size +0 | sort | head -n 1)
truncate -s 50 "$stream" || fail "no stream in $(find cut)"
unmeasured 'run time < 100 s' "cut: it is damaged" before cut
# The budget does not need A.
"$gprof_mt" diff --budget 'run time < 100 s' cut before >out 2>err
[ $? = 1 ] && grep -qE '^  run time < 100 s +met ' out && grep -q "cut.*damaged" err || fail "damaged A: $(cat out err)"

# Captures that do not belong together.
fails 1 "failed/1: a run of './gated 3', but same/1 is one of './gated': name runs of one command" \
	diff --budget 'run time < 1 s' before same/1,failed/1
fails 1 "same/1: the same run as same/1, or a copy" diff --budget 'run time < 1 s' before same/1,same/1
fails 1 "a run of uncounted, but same/1 is one of gated" diff --budget 'run time < 1 s' before same/1,uncounted.data
fails 1 "nowhere: " diff --budget 'run time < 1 s' before nowhere
mkdir empty
fails 1 "empty is not a capture" diff --budget 'run time < 1 s' empty before

# Budgets that are wrong: one line each.
printf 'run time < 3\n\n# good\nwaits < 1 %%\ncalls of < 5\n' >wrong
"$gprof_mt" diff --budget wrong before same >out 2>err
[ $? = 2 ] && [ ! -s out ] && [ "$(wc -l <err)" = 2 ] && grep -qF "wrong:1: invalid bound '3' of a time" err &&
	grep -qF "wrong:5: 'calls of' needs the name of the function" err || fail "$(cat out err)"
echo '# none' >comment
printf 'a\0b' >binary
fails 2 "--budget comment: the file has no budget" diff --budget comment before same
fails 1 "binary: not a file of budgets" diff --budget binary before same
fails 2 "--budget none: no such file" diff --budget none before same
fails 2 "no quantity 'speed' (expected run time, " diff --budget 'speed < 3' before same
fails 2 "'3 %' is a share of nothing: write +3 %" diff --budget 'run time < 3 %' before same
fails 2 "expected the directories of two captures" diff --budget 'run time < 3 s' before
fails 2 "expected two arguments, and no sections" diff --budget 'run time < 3 s' before same locks
fails 2 "do not apply to --budget" diff --budget 'run time < 3 s' --no-lines before same
fails 2 "--thread: this command does not accept it" diff --budget 'run time < 3 s' --thread next before same
fails 2 "--junit" diff --junit junit.xml before/1 same/1
# A file that cannot be written; the old one stays.
echo old >readable
"$gprof_mt" diff --budget 'run time < 100 s' --junit nowhere/junit.xml before same >out 2>err
[ $? = 1 ] && grep -q '^gprof-mt: --junit: ' err && [ -s out ] || fail "--junit: $(cat out err)"
