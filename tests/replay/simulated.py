#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""simulated.py GPROF_MT SEED N: random models, simulated by `gprof-mt replay` and by a slow implementation, which moves
all threads on by one ns at a time. It has no scheduler, so it needs as many CPUs as threads; there, all run times are
equal. With fewer CPUs, bounds are checked: a run takes at least as long as with all of them, and as the CPU time
divided by the CPUs; on one CPU, without sleeps, it takes exactly the CPU time. The fidelity is that of a run in which
other programs keep threads from a CPU."""
import json
import random
import re
import subprocess
import sys

N_SITES = 3


def site_of(step):
    """The number of the call site of an acquisition."""
    return 1 + step % N_SITES


class Thread:
    def __init__(self, created):
        self.created, self.steps = created, []  # (cpu_ns, operation, argument); argument: None, number or pair


class Model:
    """Locks are taken in ascending order, awaited steps are those of earlier threads, only the first thread posts, and
    the first two notify; they wait for nothing else but locks, earlier threads, and the barrier at the end, so that no
    thread waits for ever."""

    def __init__(self, rng):
        self.n_locks, self.n_threads = rng.randint(1, 3), rng.randint(2, 5)
        self.threads = [Thread(created=i > 0) for i in range(self.n_threads)]
        # Of contention: to block, to try again, for a release, and until its wake-up.
        self.costs = [rng.randint(0, 99) for _ in range(4)] if rng.random() < 0.5 else [0] * 4

        def cpu_ns():
            # With costs, more depends on the order of operations at the same time, so few are.
            return rng.randint(0, 300) if any(self.costs) else rng.choice([0, 1, 2, rng.randint(0, 30)])

        self.n_more_locks = 0  # with the numbers behind those of the semaphore, the barrier and the condition
        self.sem, self.barrier = rng.randint(0, 2), rng.random() < 0.5
        self.notified = 0
        sem_balance = self.sem
        for i, thread in enumerate(self.threads):
            steps = thread.steps

            def add(operation, argument=None):
                steps.append((cpu_ns(), operation, argument))

            if i == 0:
                for k in range(1, self.n_threads):
                    add("create", k)
            for _ in range(rng.randint(1, 8)):
                kind = rng.random()
                if kind < 0.6:
                    taken = sorted(rng.sample(range(self.n_locks), rng.randint(1, min(2, self.n_locks))))
                    for lock in taken:
                        add("rdlock" if rng.random() < 0.3 else "lock", lock)
                    for lock in rng.sample(taken, len(taken)):
                        add("unlock", lock)
                elif kind < 0.7:
                    add("sleep", rng.randint(1, 40))
                elif kind < 0.8 and i == 0:
                    add("post", self.n_locks)
                    sem_balance += 1
                elif kind < 0.85 and i < 2:
                    add("notify", self.n_locks + 2)
                    self.notified += 1
                elif kind < 0.85 and self.notified > 0:
                    add("notified", (self.n_locks + 2, rng.randint(1, self.notified)))
                elif kind < 0.9 and i > 0 and sem_balance > 0:
                    add("wait", self.n_locks)
                    sem_balance -= 1
                elif i > 0:
                    other = rng.randrange(i)
                    before = len(self.threads[other].steps) - 2 * self.barrier  # those before the barrier
                    add("await", (other, rng.randrange(before)))
                else:
                    add("signal")
            if self.barrier:
                add("barrier", self.n_locks + 1)
            add("exit")
        # Behind the CPU time of some steps, threads are kept from a CPU.
        self.kept = {(i, at): rng.randint(1, 50) for i, thread in enumerate(self.threads)
                     for at in range(len(thread.steps)) if rng.random() < 0.2}

    def write(self, path, cpus=1, recorded_ns=0):
        lines = ["gprof-mt-model 1", f"cpus {cpus}", f"run {recorded_ns}", "quantum 7", "wake 0", "others 1"]
        lines.append("costs " + " ".join(str(ns) for ns in self.costs))
        lines += [f'lock "lock {i}"' for i in range(self.n_locks)]
        lines += [f'sem {self.sem} "items"', f'barrier {self.n_threads} "all"', 'cond "cond"']
        lines += [f'lock "more {i}"' for i in range(self.n_more_locks)]
        lines += [f'site "f{i} (a.c:{i})"' for i in range(1, N_SITES + 1)]
        for i, thread in enumerate(self.threads):
            lines.append(f'thread {"created" if thread.created else 0} "thread {i}"')
            for at, (cpu, operation, argument) in enumerate(thread.steps):
                text = f"{argument[0]}:{argument[1]}" if operation in ("await", "notified") else argument
                line = f"{cpu} {operation}" + ("" if text is None else f" {text}")
                lines.append(line + (f" {site_of(at)}" if operation in ("lock", "rdlock") else ""))
                if (i, at) in self.kept:
                    lines.append(f"kept {self.kept[i, at]}")
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")

    def cpu_ns(self):
        return sum(step[0] for thread in self.threads for step in thread.steps)

    def sleeps(self):
        return any(step[1] == "sleep" for thread in self.threads for step in thread.steps)


def slow(model, kept=None):
    """The run time with a CPU for each thread and locks that are handed over in order of arrival. kept: times without
    a CPU, by thread and step."""
    kept = kept or {}
    n = model.n_threads
    at, left, started, ended = [0] * n, [0] * n, [False] * n, [False] * n
    sleeping, queued = [None] * n, [False] * n
    n_objects = model.n_locks + 3 + model.n_more_locks
    owner, readers = [None] * n_objects, [set() for _ in range(n_objects)]
    queues = [[] for _ in range(n_objects)]
    value, arrived, passed, now = model.sem, [], set(), 0
    waiting_for_item, notifications = [], 0
    block_ns, _, release_ns, wake_up_ns = model.costs
    blocks_at, granted_at, extra = [None] * n, [None] * n, [0] * n

    def start(i):
        started[i], left[i] = True, model.threads[i].steps[0][0] + kept.get((i, 0), 0)

    def try_grant(lock):
        """True if a thread that waited has the lock now."""
        woke = False
        while queues[lock]:
            i, shared = queues[lock][0]
            if owner[lock] is not None or (not shared and readers[lock]):
                break
            queues[lock].pop(0)
            granted_at[i] = now
            woke = woke or blocks_at[i] is not None
            if shared:
                readers[lock].add(i)
            else:
                owner[lock] = i
        return woke

    def perform(i):
        """True if the operation is done."""
        nonlocal value, notifications
        _, operation, argument = model.threads[i].steps[at[i]]
        if operation in ("lock", "rdlock"):
            if not queued[i]:
                queues[argument].append((i, operation == "rdlock"))
                queued[i] = True
                try_grant(argument)
            if owner[argument] != i and i not in readers[argument]:
                if blocks_at[i] is None:
                    blocks_at[i] = now + block_ns
                return False
            if blocks_at[i] is not None and now < max(blocks_at[i], granted_at[i] + wake_up_ns * (
                    granted_at[i] >= blocks_at[i])):
                return False
            queued[i], blocks_at[i] = False, None
        elif operation == "unlock":
            if owner[argument] == i:
                owner[argument] = None
            readers[argument].discard(i)
            extra[i] = release_ns * try_grant(argument)
        elif operation == "sleep":
            if sleeping[i] is None:
                sleeping[i] = now + argument
            if now < sleeping[i]:
                return False
            sleeping[i] = None
        elif operation == "post":
            value += 1
        elif operation == "wait":
            if i not in waiting_for_item:
                waiting_for_item.append(i)
            if value == 0 or waiting_for_item[0] != i:
                return False
            value -= 1
            waiting_for_item.pop(0)
        elif operation == "barrier":
            if i not in arrived:
                arrived.append(i)
            if len(arrived) == n:
                passed.update(arrived)
            return i in passed
        elif operation == "notify":
            notifications += 1
        elif operation == "notified":
            return notifications >= argument[1]
        elif operation == "await":
            return ended[argument[0]] or at[argument[0]] > argument[1]
        elif operation == "create":
            start(argument)
        elif operation == "exit":
            ended[i] = True
        return True

    start(0)
    while not all(ended):
        progress = True
        while progress:  # all that happens at this time
            progress = False
            for i in range(n):
                while started[i] and not ended[i] and left[i] == 0 and perform(i):
                    progress = True
                    if not ended[i]:
                        at[i] += 1
                        left[i] = model.threads[i].steps[at[i]][0] + extra[i] + kept.get((i, at[i]), 0)
                        extra[i] = 0
        if all(ended):
            return now
        for i in range(n):
            left[i] = max(left[i] - 1, 0)
        now += 1
        assert now < 100000, "it does not end"
    return now


def simulated(gprof_mt, path, *options):
    run = subprocess.run([gprof_mt, "replay", "--runs", "2", "--format", "json", *options, path], capture_output=True,
                         text=True, check=True)
    assert "for ever" not in run.stdout, run.stdout
    result = json.loads(run.stdout)
    fidelity = [re.search(r"^fidelity: recorded .*: ([-+][0-9.]+) %, sigma", note["note"]) for note in result["notes"]]
    return {row["cpus"]: row["run_ns"] for row in result["replays"]}, [float(found[1]) for found in fidelity if found]


def main():
    gprof_mt, seed, n_models = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    differences = kept_differences = 0
    for number in range(n_models):
        model = Model(random.Random(seed + number))
        expected, n = slow(model), model.n_threads
        model.write("model", n, slow(model, model.kept))
        fair, fidelity = simulated(gprof_mt, "model", "--fair", "--cpus", f"1..{n}")
        barging, _ = simulated(gprof_mt, "model", "--cpus", f"1..{n}")
        # Operations at the same time may have another order.
        differences += fair[n] != expected
        kept_differences += fidelity != [0.0]
        for found in fair, barging:
            for cpus, ns in found.items():
                assert ns * cpus >= model.cpu_ns(), (seed + number, cpus, ns, model.cpu_ns())
            assert model.sleeps() or any(model.costs) or found[1] == model.cpu_ns(), (seed + number, found[1], model.cpu_ns())
    print(f"{n_models} models, {differences} with another run time, {kept_differences} with other programs")
    assert max(differences, kept_differences) <= n_models // 10, (differences, kept_differences)


if __name__ == "__main__":
    main()
