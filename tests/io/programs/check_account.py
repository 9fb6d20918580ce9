# SPDX-License-Identifier: MIT
"""check_account.py ACCOUNT EVENTS LEAST: compares the recorded calls with the program's own account.

Each call that another thread saw blocked for LEAST ns, or that took twice as long, has exactly one event within it,
with its object and result; no event is shorter than LEAST.
"""
import sys

SLACK_NS = 2000  # two clocks read one after the other, and the clock's error
least = int(sys.argv[3])
events = []
with open(sys.argv[2]) as file:
    for line in file:
        name, tid, result, obj, begin, end, *_ = line.split()
        events.append((name, int(tid), int(result), int(obj), int(begin), int(end)))
bad = [f"shorter than {least} ns: {event}" for event in events if event[5] - event[4] < least]
n_calls = n_found = 0
with open(sys.argv[1]) as file:
    for line in file:
        name, *numbers = line.split()
        tid, obj, result, begin, end, blocked = map(int, numbers)
        inside = [e for e in events if e[0] == name and e[1] == tid and e[3] == obj and
                  e[4] >= begin - SLACK_NS and e[5] <= end + SLACK_NS]
        n_calls += 1
        n_found += len(inside)
        if len(inside) > 1:
            bad.append(f"{line.strip()}: {len(inside)} events")
        elif not inside:
            if blocked >= least or least == 0:
                bad.append(f"{line.strip()}: no event")
        elif inside[0][2] != result:
            bad.append(f"{line.strip()}: result {inside[0][2]}")
        elif inside[0][5] - inside[0][4] < blocked - SLACK_NS:
            bad.append(f"{line.strip()}: too short: {inside[0]}")
print(f"{n_calls} calls, {n_found} recorded, {len(events)} events in all")
print("\n".join(bad), end="\n" if bad else "")
sys.exit(bool(bad) or n_found < n_calls // 2)
