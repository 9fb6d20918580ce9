# SPDX-License-Identifier: MIT
"""distribution.py EVENTS_TEXT REPORT LEAST: compares the distribution of waits and holds of mutexes with
babeltrace2's text. Number, sum, mean and maximum of the waits of each mutex must equal those of the durations
between the events; p50 and p99 may differ by 1/64. Holds may differ by 2 % more: by the clocks of two CPUs a
hold may begin before the previous one ends, which the report then ends there. A condition wait releases its
mutex. At least LEAST mutexes must be contended."""
import json
import re
import sys
from collections import defaultdict

LINE = re.compile(r"\[(\d+)\.(\d{9})\] .* (mutex_\w+|cond_\w*wait\w*): { tid = (\d+), .*result = (\d+), .*"
                  r"(?:object|mutex) = 0x([0-9A-F]+)")
waits, holds, begun, held = defaultdict(list), defaultdict(list), {}, {}
for line in open(sys.argv[1]):
    found = LINE.match(line)
    if not found or int(found[5]):
        continue
    now, what, who = int(found[1] + found[2]), found[3], (int(found[4]), int(found[6], 16))
    if what == "mutex_lock_begin":
        begun[who] = now
    elif what == "mutex_lock":
        if who in begun:
            waits[who[1]].append(now - begun.pop(who))
        held[who] = now
    elif re.fullmatch("cond_(timed)?wait", what):  # which reacquires it
        held[who] = now
    elif (what == "mutex_unlock" or what.endswith("wait_begin")) and who in held:
        holds[who[1]].append(now - held.pop(who))


def check(lock, key, value, tolerated):
    if abs(lock[key] - value) > tolerated:
        sys.exit(f"{lock['name']}: {key}: expected {value}, got {lock[key]}")


def compare(lock, kind, durations, off):
    durations.sort()
    n = len(durations)
    check(lock, f"{kind}_ns", sum(durations), off * sum(durations))
    check(lock, f"{kind}_mean_ns", sum(durations) / n, off * sum(durations) / n + 1)
    check(lock, f"{kind}_max_ns", durations[-1], off * durations[-1])
    for percent in (50, 99):
        value = durations[(n * percent + 99) // 100 - 1]
        check(lock, f"{kind}_p{percent}_ns", value, (off + 1 / 64) * value + 1)


compared = 0
for lock in json.load(open(sys.argv[2]))["locks"]:
    address = int(lock["object"], 16)
    if lock["type"] != "mutex" or not waits[address]:
        continue
    if lock["contended"] != len(waits[address]):
        sys.exit(f"{lock['name']}: expected {len(waits[address])} waits, got {lock['contended']}")
    compare(lock, "wait", waits[address], 0)
    compare(lock, "hold", holds[address], 0.02)
    met = sum(h["contended"] for s in lock["sites"] for h in s["holders"])
    if met > lock["contended"]:
        sys.exit(f"{lock['name']}: expected a holder for {lock['contended']} waits, got {met}")
    compared += 1
if compared < int(sys.argv[3]):
    sys.exit(f"only {compared} mutexes were contended")
