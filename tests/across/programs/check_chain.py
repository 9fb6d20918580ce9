# SPDX-License-Identifier: MIT
"""Compares the critical path and the wait graph with the log of programs/chain.c.

check_chain.py LOG PATH WAITS KIND: PATH and WAITS are the JSON of `report critical-path` and `graph --kind wait`.

- A stage works from the return of its read until it is about to write, and nothing else happens in the meantime, so
  the path is in that stage for all of this time. In between it is in one of both stages.
- Each byte and each end of the bytes ends one wait, which is for the stage before. The waits of a stage are no longer
  than the time that it spent in its reads, and no shorter than the time from when the stage before saw it asleep until
  that stage sent. Printed is the difference to the time in reads: the call ends a little before the log's entry, and
  other programs may take the CPU in between.

Exit status 3: the run proves nothing, since a stage was not asleep when its byte came, or because the kernel delivered
a packet of TCP later, in another interrupt.
"""
import collections
import json
import sys


def read_log(path):
    """The bytes in the order of their way, (stage, pid, asks, received, asleep, sends), and the other entries."""
    with open(path, encoding="ascii") as log:
        entries = [tuple(map(int, line.split())) for line in log]
    return sorted((entry for entry in entries if entry[5]), key=lambda entry: entry[5]), \
        [entry for entry in entries if not entry[5]]


def read_json(path):
    """The report in that file."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def covered(segments, pid, start, end):
    """The part of that time in which the path is in the process."""
    return sum(max(0, min(end, s["start_ns"] + s["duration_ns"]) - max(start, s["start_ns"]))
               for s in segments if s["tid"] == pid)


def check_path(log, segments):
    """The path is where the stages work, and nowhere else."""
    pids = dict(entry[:2] for entry in log)
    worked, found = collections.Counter(), collections.Counter()
    for i, (stage, pid, _, received, _, sends) in enumerate(log):
        path = covered(segments, pid, received, sends)
        worked[stage] += sends - received
        found[stage] += path
        if path != sends - received:
            yield f"byte {i}: stage {stage} works for {sends - received} ns, and {path} ns of that are on the path"
    for stage in pids:
        print(f"stage {stage}: works for {worked[stage]} ns, {found[stage]} ns of that on the path")
    start, end = log[0][3], log[-1][5]
    total = sum(covered(segments, pid, start, end) for pid in pids.values())
    if total != end - start:
        yield f"{total} ns of the {end - start} ns are on the path of the stages"


def check_waits(log, rest, edges):
    """Each stage waits for the one before."""
    pids = dict(entry[:2] for entry in log)
    asked = log[1:] + rest
    for stage, pid in sorted(pids.items()):
        before = pids[(stage - 1) % 4]
        waits = [(e["to"], w) for e in edges if e["from"] == pid for w in e["waits"]
                 if w["site"] is not None and w["site"].startswith("receive ")]
        count, slept = sum(w["count"] for _, w in waits), sum(w["wait_ns"] for _, w in waits)
        by_log = [entry[3] - entry[2] for entry in asked if entry[0] == stage]
        asleep = sum(entry[5] - entry[4] for entry in log[:-1] if (entry[0] + 1) % 4 == stage)
        print(f"stage {stage}: {len(by_log)} reads, {sum(by_log)} ns by the log, {slept} ns of waits, "
              f"{100 * (slept / sum(by_log) - 1):+.3f} %")
        if count != len(by_log) or not asleep <= slept <= sum(by_log):
            yield f"stage {stage}: {count} waits of {slept} ns, by the log {len(by_log)} of {asleep} to {sum(by_log)} ns"
        for to, w in waits:
            if (to, w["type"], w["how"]) != (before, "call", "woke") or w["name"] not in ("read", "poll"):
                yield f"stage {stage} waited for {to}: {w}"


def main():
    """Ends with the problems as message."""
    log, rest = read_log(sys.argv[1])
    if len({entry[0] for entry in log}) != 4 or any(entry[0] != i % 4 for i, entry in enumerate(log)):
        sys.exit(f"the bytes are not in order: {log[:8]}")
    if any(entry[2] >= before[4] for before, entry in zip(log, log[1:])):
        print("a stage was not asleep when it was asked")
        sys.exit(3)
    waits = read_json(sys.argv[3])
    if sys.argv[4] == "tcp" and any("woken by an interrupt" in note["note"] for note in waits["notes"]):
        print(waits["notes"])
        sys.exit(3)
    problems = list(check_path(log, read_json(sys.argv[2])["critical_stretches"]))
    problems += check_waits(log, rest, waits["edges"])
    if problems:
        sys.exit("\n".join(problems[:10]))


main()
