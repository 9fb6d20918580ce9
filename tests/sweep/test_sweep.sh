#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt sweep` keeps the workload from which on threads wait for a lock, and not those of programs that only sleep
# or take the same time; its figures are those of runs.jsonl, as Python computes them; the ranking is that of `gprof-mt
# bottlenecks`. Failed runs do not count. CPUs and threads add a scalability table, and laws.
. "$GM_TOP/tests/lib.sh"
need python3
build steps

cat >tests.ini <<'END'
[test lock]
command=./steps lock {w}
workload=2..32*4
check=grep -qx 'lock [0-9]*'

[test sleep]
command=./steps sleep {w}
workload=2..32*4
warmup=2

[test same]
command=./steps same {w}
workload=1,2
threads=3
END
"$gprof_mt" sweep --runs 5 --format json -o all tests.ini >all.json 2>err </dev/null || fail "sweep: $(cat err)"
same "errors" "" "$(cat err)"
cat >check.py <<'END'
import itertools, json, os, statistics
result = json.load(open("all.json"))
lines = [json.loads(line) for line in open("all/runs.jsonl")]
runs = lines[1:]
cpus = len(os.sched_getaffinity(0))


def greater(after, before):
    u = lambda a, b: sum((x > y) + (x == y) / 2 for x in a for y in b)
    everything, found = after + before, u(after, before)
    ways = list(itertools.combinations(range(len(everything)), len(after)))
    return sum(u([everything[i] for i in way], [v for i, v in enumerate(everything) if i not in way]) >= found - 1e-12
               for way in ways) / len(ways)


def of(test, workload, kind):
    return [run for run in runs if run["test"] == test and run.get("workload") == workload and run["kind"] == kind]


steps = {}
for step in result["steps"]:
    plain = of(step["test"], step["workload"], "plain")
    assert len(plain) == 5 == step["runs"] and not step["failed"], step
    assert len(of(step["test"], step["workload"], "warm-up")) == (2 if step["test"] == "sleep" else 0)
    recorded = of(step["test"], step["workload"], "recorded")
    # The main thread and three others, unless one ends before the last one starts; or as given.
    assert step["threads"] == (3 if step["test"] == "same" else recorded[0]["peak_threads"]) in (2, 3, 4), step
    assert step["dir"] == "all/" + recorded[0]["file"] and os.path.exists(step["dir"] + "/info.json"), step
    walls = [run["wall_ns"] for run in plain]
    uses = [(run["user_ns"] + run["system_ns"]) / run["wall_ns"] / min(step["threads"], cpus) for run in plain]
    near = lambda got, want: abs(got - want) <= 1e-6 * abs(want) + 1
    assert near(step["wall_ns"], statistics.fmean(walls)) and near(step["wall_sigma_ns"], statistics.stdev(walls)), step
    assert abs(step["cpu_use_pct"] - 100 * statistics.fmean(uses)) < 1e-6, (step, uses)
    before = steps.setdefault(step["test"], [])
    if before:
        assert abs(step["p_slower"] - greater(walls, before[-1][1])) < 1e-9, step
        assert abs(step["p_use_rose"] - greater(uses, before[-1][2])) < 1e-9, step
        if step["verdict"] == "run time did not rise":
            assert step["p_slower"] >= 0.05, step
        if step["verdict"] == "exposes a problem":
            unused = [100 - s["cpu_use_pct"] for s in (before[-1][0], step)]
            assert step["p_use_rose"] >= 0.05 or unused[1] > 0.9 * unused[0], (step, unused)
            assert step["p_slower"] < 0.05 and step["cpu_use_pct"] < 90, step
    else:
        assert step["p_slower"] is None and step["verdict"] == "first", step
    before.append((step, walls, uses))
kept = [(step["test"], step["workload"]) for step in result["steps"] if step["verdict"] == "exposes a problem"]
assert kept in ([("lock", 8)], [("lock", 32)]), kept
assert [step["workload"] for step in result["steps"] if step["test"] == "sleep"] == [2, 8, 32], result["steps"]
assert "threads hardly waited for each other" in [s[0]["verdict"] for s in steps["sleep"]], steps["sleep"]
notes = " ".join(note["note"] for note in result["notes"])
assert f"lock: workload {kept[0][1]} exposes a synchronization problem" in notes, notes
assert "lock: cause: " in notes and "in the mean of" in notes, notes
assert "not exercised: code that no test runs" in notes, notes
assert "sleep: exhausted: no workload up to 32 exposes" in notes and "same: exhausted" in notes, notes

recorded = of(*kept[0], "recorded")
assert 2 <= len(recorded) <= 10, recorded
open("dirs", "w").write("\n".join("all/" + run["file"] for run in recorded))
END
python3 check.py || fail "$(cat all.json)"

# The sections of a step are those of its capture with 0.5 % of the time or more, five at most.
"$gprof_mt" report -i "$(head -n 1 dirs)" --format json bottlenecks >step.json || fail "report"
python3 - <<'END' || fail "sections of a step: $(cat all.json step.json)"
import json
result, report = json.load(open("all.json")), json.load(open("step.json"))["bottlenecks"]
(step,) = [step for step in result["steps"] if step["dir"] == open("dirs").readline().strip()]
want = [{key: row[key] for key in ("lock", "entry", "exit", "share_pct")} for row in report if row["share_pct"] >= 0.5][:5]
assert step["sections"] == want and want[0]["lock"] == "table", (step, want)
assert step["blocked_by"].startswith(f"table at {want[0]['entry']} {want[0]['share_pct']:.0f} %"), step
END

# The ranking is the one of `bottlenecks`, with columns for the test.
# shellcheck disable=SC2046 # the names are split on purpose
"$gprof_mt" bottlenecks --format json $(cat dirs) >merged.json || fail "bottlenecks"
python3 - <<'END' || fail "ranking: $(cat all.json merged.json)"
import json
result, merged = json.load(open("all.json")), json.load(open("merged.json"))
for name in "bottlenecks", "inconclusive", "sections":
    rows = [{key: value for key, value in row.items() if key not in ("test", "workload")} for row in result[name]]
    assert rows == merged[name] and {row["test"] for row in result[name]} <= {"lock"}, name
rows = result["bottlenecks"] + result["inconclusive"]
assert rows[0]["lock"] == "table" and rows[0]["entry"].startswith("work (steps.c:"), rows
END

# Threads that wait for a condition, and not for a lock: no critical section is the cause.
"$gprof_mt" sweep --runs 5 --format json -o queue --workload 2..32*4 -- ./steps queue '{w}' >queue.json 2>err ||
	fail "queue: $(cat err)"
python3 - <<'END' || fail "queue: $(cat queue.json)"
import json
notes = [note["note"] for note in json.load(open("queue.json"))["notes"]]
kept = [note for note in notes if " exposes a synchronization problem: " in note]
found = [note for note in notes if " % of the waits are for no critical section, most for turn; `gprof-mt report -i queue/" in note]
assert len(kept) == len(found) == 1, notes
assert int(found[0].split(": ")[1].split(" %")[0]) > 50 and not any(note.startswith("steps: cause: ") for note in notes), notes
END

# {w/t} is the part of each thread. More threads take longer here, which is beyond Amdahl's law.
cat >share.ini <<'END'
[test share]
command=sh -c 'echo {w} {t} {w/t}; [ {t} = 1 ] || sleep 0.5'
workload=12,24
threads=1,3
check=awk '$1 != $2 * $3 || NF != 3 || $1 % 12 { exit 1 }'
END
"$gprof_mt" sweep --runs 2 --format json -o share share.ini >share.json 2>err || fail "share: $(cat err)"
python3 - <<'END' || fail "share: $(cat share.json)"
import json
result = json.load(open("share.json"))
assert "failures" not in result, result["failures"]
assert [(row["number"], row["runs"]) for row in result["scalability"]] == [(1, 2), (3, 2)], result["scalability"]
assert result["laws"][0]["serial_pct"] > 100, result["laws"]
notes = [note["note"] for note in result["notes"] if note["section"] == "laws"]
assert any("share, threads: more of them take longer: Amdahl's law, " in note for note in notes), notes
END

# Another program on the only CPU is named: one thread waits for it, too. Two threads wait for each other anyway.
if can_trace; then
	cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
	taskset -c "$cpu" sh -c 'while :; do :; done' &
	hog=$!
	taskset -c "$cpu" "$gprof_mt" sweep --runs 2 -o loaded --threads '{t}=1,2' -- ./steps busy 20 '{t}' >out 2>err ||
		{ kill $hog; fail "loaded: $(cat err)"; }
	kill $hog
	grep -q 'note: steps, threads 1: threads were ready without a CPU, though they are no more than the CPUs: other load' out ||
		fail "loaded: $(cat out)"
fi

# Threads, and runs that fail: half of them.
status=0
"$gprof_mt" sweep --runs 6 --format json -o odd --threads '{t}=1,2,4' -- ./steps odd 20 '{t}' >odd.json 2>err || status=$?
same "exit status with failed runs" 0 $status
python3 - <<'END' || fail "failed runs: $(cat odd.json err)"
import json, statistics
result = json.load(open("odd.json"))
runs = [json.loads(line) for line in open("odd/runs.jsonl")][1:]
rows = result["scalability"]
assert [(row["varies"], row["number"], row["runs"], row["failed"]) for row in rows] == [("threads", n, 3, 3) for n in (1, 2, 4)], rows
for row in rows:
    walls = [run["wall_ns"] for run in runs if run["kind"] == "plain" and run["threads"] == row["number"] and "failure" not in run]
    assert abs(row["wall_ns"] - statistics.fmean(walls)) < 1000, row
    speedup = rows[0]["wall_ns"] / row["wall_ns"]
    assert abs(row["speedup"] - speedup) < 1e-3 * speedup and abs(row["efficiency_pct"] - 100 * speedup / row["number"]) < 0.1, row
failures = result["failures"]
assert failures and all(row["why"] == "exit status 3" for row in failures), failures
assert sum(row["kind"] == "plain" for row in failures) == 9, failures
assert all(open("odd/" + row["file"]).read() == "odd 20\n" for row in failures), failures
for row in rows:
    walls = sorted(run["wall_ns"] for run in runs if run["kind"] == "plain" and run["threads"] == row["number"] and "failure" not in run)
    assert all(abs(a - b) <= 1 for a, b in zip(walls, sorted(run["wall_ns"] for run in row["by_run"]), strict=True)), row
    assert all(abs(run["speedup"] - rows[0]["wall_ns"] / run["wall_ns"]) < 1e-3 * run["speedup"] for run in row["by_run"]), row
# A recorded run that fails is repeated: each number of threads has one.
recorded = [run for run in runs if run["kind"] == "recorded"]
assert [run["threads"] for run in recorded if "failure" not in run] == [4, 1, 2] and len(recorded) > 3, recorded
# All runs, with the resources that they used.
assert len(result["runs"]) == len(runs), result["runs"]
for row, run in zip(result["runs"], runs):
    same = "test", "threads", "kind", "wall_ns", "user_ns", "system_ns", "max_rss_bytes", "voluntary", "involuntary"
    assert all(row[key] == run[key] for key in same) and row["failure"] == run.get("failure"), (row, run)
    use = (run["user_ns"] + run["system_ns"]) / run["wall_ns"] / min(row["threads"], row["cpus"])
    assert row["cpu_use_pct"] is None if run["kind"] == "recorded" else abs(row["cpu_use_pct"] - 100 * use) < 1e-6, row
    assert row["dir"] == ("odd/" + run["file"] if run["kind"] == "recorded" and "failure" not in run else None), row
laws = result["laws"]
assert [(law["law"], law["varies"]) for law in laws] == [("Amdahl", "threads"), ("universal", "threads")], laws
assert all(law["serial_low_pct"] <= law["serial_pct"] <= law["serial_high_pct"] for law in laws), laws
# Amdahl's law by the normal equations for T1 and T1 s, each mean weighted by its own inverse.
terms = [(1 / n / row["wall_ns"], (n - 1) / n / row["wall_ns"]) for row in rows for n in [row["number"]]]
xx, xy, yy, x, y = (sum(f(a, b) for a, b in terms) for f in (lambda a, b: a * a, lambda a, b: a * b, lambda a, b: b * b,
                                                             lambda a, b: a, lambda a, b: b))
t1, part = (x * yy - y * xy) / (xx * yy - xy * xy), (y * xx - x * xy) / (xx * yy - xy * xy)
want = 100 * max(part, 0) / t1
assert abs(laws[0]["serial_pct"] - want) < 1e-3 * want + 1e-3, (laws[0], want)
# The curves are the laws, compared with the mean of the first number.
for law in laws:
    curve = [point for point in result["curves"] if point["law"] == law["law"]]
    numbers = [point["number"] for point in curve]
    assert numbers == sorted(set(numbers)) and {1, 2, 4} <= set(numbers) and len(numbers) > 60, numbers
    s, k = law["serial_pct"] / 100, (law["coherency_pct"] or 0) / 100
    by_law = lambda n: n / (1 + s * (n - 1) + k * n * (n - 1))
    scale = curve[0]["speedup"]
    for point in curve:
        assert abs(point["speedup"] - scale * by_law(point["number"])) < 1e-6 * point["speedup"], (law, point)
        assert point["speedup_low"] <= point["speedup_high"], point
assert abs(result["curves"][0]["speedup"] - rows[0]["wall_ns"] / t1) < 1e-3, (result["curves"][0], t1)
END

# Three runs cannot show that any run time rose: that is said, and not that none did.
"$gprof_mt" sweep --runs 3 --workload 5,50 -o few -- ./steps lock '{w}' >few.txt 2>&1 || fail "few runs: $(cat few.txt)"
grep -q '^ *steps  *50 .*too few runs to decide' few.txt || fail "few runs: $(cat few.txt)"
grep -q 'steps: undecided: 3 runs of workload 50 cannot show at 5 % that the run time rose: make 4 of each or more (--runs)' few.txt ||
	fail "few runs: $(cat few.txt)"
"$gprof_mt" sweep --resume --runs 4 --workload 5,50 -o few -- ./steps lock '{w}' >few.txt 2>&1 || fail "four runs: $(cat few.txt)"
grep -q 'steps: workload 50 exposes a synchronization problem' few.txt || fail "four runs: $(cat few.txt)"

# CPUs: the program sees as many as it may use.
"$gprof_mt" sweep --runs 2 --cpus 1 --workload 1,2 -o one -- sh -c 'echo {w} >/dev/null; [ "$(nproc)" = 1 ]' >out 2>&1 || fail "--cpus: $(cat out)"
! grep -q failed out || grep -q '  failed  ' out || fail "--cpus: $(cat out)"
! grep -q 'Failed runs' out || fail "--cpus 1: $(cat out)"
"$gprof_mt" sweep --resume --runs 3 --format csv --table steps --cpus 1 --workload 1,2 -o one -- \
	sh -c 'echo {w} >/dev/null; [ "$(nproc)" = 1 ]' >rows.csv 2>err || fail "csv: $(cat err)"
head -n 1 rows.csv | grep -q '^test,workload,cpus,threads,runs,failed,wall_ns,' || fail "csv: $(cat rows.csv)"
same "runs after --resume with more" 8 "$(tail -n +2 one/runs.jsonl | wc -l)"
