#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""changed.py GPROF_MT SEED N: random models and changes. `replay --what-if` predicts the run time of the model that
this script changes on its own, exactly, and that of the slow implementation, up to the order of operations at one
time. The parts of critical paths add up to the run time, and other numbers of threads do the same work."""
import copy
import json
import random
import subprocess
import sys

from simulated import Model, N_SITES, site_of, simulated, slow

gprof_mt, seed, n_models = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
TAKES = ("lock", "rdlock")


def sections(thread):
    """(first, last) of each section: from the acquisition to the next release of that lock."""
    for first, (_, operation, lock) in enumerate(thread.steps):
        if operation in TAKES:
            yield first, next(k for k in range(first, len(thread.steps)) if thread.steps[k][1:] == ("unlock", lock))


def replace(thread, at, operation=None, argument=None, cpu=None):
    old = thread.steps[at]
    thread.steps[at] = (old[0] if cpu is None else cpu, operation or old[1], old[2] if argument is None else argument)


def drop(model, lock):
    for thread in model.threads:
        for at, step in enumerate(thread.steps):
            if step[1] in TAKES + ("unlock",) and step[2] == lock:
                thread.steps[at] = (step[0], "signal", None)


def split(model, lock, group):
    """Acquisitions at these sites are of a lock of their own; without sites, those of each site."""
    first_new = model.n_locks + 3 + model.n_more_locks
    for thread in model.threads:
        for first, last in list(sections(thread)):
            site = site_of(first)
            if thread.steps[first][2] == lock and (not group or site in group):
                for at in first, last:
                    replace(thread, at, argument=first_new + (0 if group else site))
    model.n_more_locks += 1 + N_SITES


def split_by_thread(model, lock):
    first_new = model.n_locks + 3 + model.n_more_locks
    for number, thread in enumerate(model.threads):
        for first, last in list(sections(thread)):
            if thread.steps[first][2] == lock:
                for at in first, last:
                    replace(thread, at, argument=first_new + number)
    model.n_more_locks += model.n_threads


def share(model, lock, sites):
    for thread in model.threads:
        for first, _ in sections(thread):
            if thread.steps[first][2] == lock and site_of(first) in sites:
                replace(thread, first, operation="rdlock")


def shrink(model, site, percent):
    for thread in model.threads:
        for first, last in sorted(sections(thread), key=lambda section: section[1]):  # a nested one first
            if site_of(first) != site:
                continue
            moved = 0
            for at in range(first + 1, last + 1):
                kept = thread.steps[at][0] * percent // 100
                moved += thread.steps[at][0] - kept
                replace(thread, at, cpu=kept)
            replace(thread, first, cpu=thread.steps[first][0] + moved // 2)
            replace(thread, last + 1, cpu=thread.steps[last + 1][0] + moved - moved // 2)


def signals_inside(model, lock):
    """An awaited step in a section of the lock: such sections keep their lock."""
    awaited = {step[2] for thread in model.threads for step in thread.steps if step[1] == "await"}
    return any(model.threads[i].steps[k][1] == "signal" for i, k in awaited)


def random_change(rng, model):
    """The text of a change, and a function that makes it."""
    lock = rng.randrange(model.n_locks)
    kind = rng.choice(["drop", "split by site", "split by thread", "split", "rwlock", "shrink"])
    sites = rng.sample(range(1, N_SITES + 1), rng.randint(1, N_SITES - 1))
    if kind == "drop":
        return f"drop lock {lock}", lambda m: drop(m, lock)
    if kind == "split by site":
        return f"split lock {lock} by site", lambda m: split(m, lock, None)
    if kind == "split by thread":
        return f"split lock {lock} by thread", lambda m: split_by_thread(m, lock)
    if kind == "split":
        return f"split lock {lock} by " + ",".join(f"f{s}" for s in sites), lambda m: split(m, lock, sites)
    if kind == "rwlock":
        return f"rwlock lock {lock} readers=" + ",".join(f"a.c:{s}" for s in sites), lambda m: share(m, lock, sites)
    percent = rng.choice([0, 50, 100])  # of which each is exact
    return f"shrink f{sites[0]} to {percent} %", lambda m: shrink(m, sites[0], percent)


def what_if(path, *options):
    run = subprocess.run([gprof_mt, "replay", "--runs", "2", "--format", "json", *options, path], capture_output=True,
                         text=True)
    if "changes nothing" in run.stderr:
        return None
    assert run.returncode == 0 and "for ever" not in run.stdout, (options, run.stderr, run.stdout)
    return json.loads(run.stdout)


compared = differences = 0
for number in range(n_models):
    rng = random.Random(seed + number)
    model = Model(rng)
    n = model.n_threads
    changed, texts = copy.deepcopy(model), []
    for _ in range(rng.randint(1, 2)):
        text, change = random_change(rng, model)
        if text.startswith("split") and signals_inside(model, 0):
            continue
        texts += ["--what-if", text]
        change(changed)
    model.write("model")
    for fair in [], ["--fair"]:
        found = what_if("model", "--cpus", f"1..{n}", *fair, *texts) if texts else None
        if not found:
            continue
        changed.write("changed")
        expected, _ = simulated(gprof_mt, "changed", "--cpus", f"1..{n}", *fair)
        for row in found["replays"]:
            assert row["changed_ns"] == expected[row["cpus"]], (seed + number, texts, fair, row, expected)
        assert found["path"][0]["before_ns"] > 0 or found["replays"][0]["run_ns"] == 0, (seed + number, found)
        # the path is that on the model's number of CPUs, which is 1
        for key, ns in ("before_ns", found["replays"][0]["run_ns"]), ("after_ns", found["replays"][0]["changed_ns"]):
            assert sum(row[key] or 0 for row in found["path"]) == ns, (seed + number, texts, key, ns, found["path"])
        compared += 1
        if fair:
            differences += found["replays"][-1]["changed_ns"] != slow(changed)
    # The same on a CPU for each thread, and with another number of threads.
    with open("model", encoding="ascii") as file:
        text = file.read().replace("cpus 1\n", f"cpus {n}\n")
    with open("model", "w", encoding="ascii") as file:
        file.write(text)
    for threads in n - 1, 1, 2 * n:
        run = subprocess.run([gprof_mt, "replay", "--runs", "2", "--format", "json", "--cpus", f"1,{n}",
                              "--what-if", f"threads {threads}", "model"], capture_output=True, text=True)
        assert run.returncode == 0 or "same barriers" in run.stderr, (seed + number, threads, run.stderr)
        if run.returncode:
            continue
        found = json.loads(run.stdout)
        one, row = found["replays"]
        if not model.sleeps() and not any(model.costs) and one["changed_ns"] is not None:
            assert one["changed_ns"] == model.cpu_ns(), (seed + number, threads, one)
        assert sum(part["before_ns"] or 0 for part in found["path"]) == row["run_ns"], (seed + number, found)
        if threads == n - 1:  # no change
            assert row["changed_ns"] == row["run_ns"], (seed + number, row)
        elif row["changed_ns"] is not None:
            assert sum(part["after_ns"] or 0 for part in found["path"]) == row["changed_ns"], (seed + number, found)
print(f"{compared} changes, {differences} with another run time than in the slow implementation")
assert compared >= n_models // 2 and differences <= compared // 10, (compared, differences)
