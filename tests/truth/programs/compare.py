# SPDX-License-Identifier: MIT
"""compare.py SAID REPORT LOCKS SOURCE STEAL_NS: compares what the threads of known.c printed (SAID) with the
report.

No duration is asserted, only the agreement of two measurements. They differ for known reasons: the kernel
excludes interrupts and the hypervisor's time (STEAL_NS, of all CPUs) from a thread's CPU clock while the
thread is running, and charges the work of a switch to the next thread, which the report does not (SWITCH_NS;
longer on an emulated CPU, SOURCE lttng)."""
import json
import sys

SPIN, HOLD, SLEEPS, SLEEP, CHILD, PIPE, TURNS = 150e6, 60e6, 20, 3e6, 60e6, 60e6, 500
MODES = ("running_ns", "runnable_ns", "blocked_sync_ns", "blocked_io_ns", "blocked_other_ns", "unknown_ns")

said = {}
for line in open(sys.argv[1]):
    words = line.split()
    if words[:1] == ["thread"]:
        said[words[2]] = {k: int(v) for k, v in (w.split("=") for w in words[3:])}
        said[words[2]]["tid"] = int(words[1])
report = json.load(open(sys.argv[2]))
locks = json.load(open(sys.argv[3]))["locks"]
source, steal_ns = sys.argv[4], float(sys.argv[5])
perf = source != "switches"
SWITCH_NS = 600e3 if source == "lttng" else 100e3
bad = []


def check(what, good, *figures):
    if not good:
        bad.append("%s: %s" % (what, " ".join(str(f) for f in figures)))


threads = {t["name"]: t for t in report["threads"] if t["tid"] in [s["tid"] for s in said.values()]}
sync = {(r["tid"], r["function"]): r for r in report["sync"]}
names = ("waiter", "spinner", "sleeper", "parent", "reader", "pinger", "ponger")
for name in names:
    mine, row = said[name], threads[name]
    lifetime = row["end_ns"] - row["start_ns"]
    check("%s: modes add up to the lifetime" % name, sum(row[m] or 0 for m in MODES) == lifetime == row["lifetime_ns"], row)
    check("%s: nothing is unknown" % name, row["unknown_ns"] == 0, row)
    # More than it printed: the write itself, and its end.
    switching_ns = SWITCH_NS * (row["switches_voluntary"] + row["switches_involuntary"] + 1)
    check("%s: running" % name, 0.97 * mine["cpu_ns"] - switching_ns - 1e6 <= row["running_ns"] <=
          1.05 * mine["cpu_ns"] + 2e6 + steal_ns, row["running_ns"], mine["cpu_ns"], steal_ns)
    check("%s: voluntary switches" % name,
          mine["voluntary"] <= row["switches_voluntary"] <= mine["voluntary"] + 3, row, mine)
    # On a busy machine it is also preempted after it has read its counters: once in 20 us was observed.
    last_ns = max(0, row["running_ns"] - mine["cpu_ns"])
    more = 5 + 3 * mine["involuntary"] * last_ns / mine["cpu_ns"]
    check("%s: involuntary switches" % name,
          mine["involuntary"] <= row["switches_involuntary"] <= mine["involuntary"] + more, row, mine)

# The waiter's wait, by its own clock, by the lock's row, and by the time it was blocked.
waited = said["waiter"]["waited"]
row = sync[said["waiter"]["tid"], "pthread_mutex_lock"]
check("waiter: one blocking call", row["calls"] == 1 and row["blocked"] == 1, row)
# Between reading its clock and the call, and after the call, it may lose its CPU.
check("waiter: wait", 0.95 * waited - threads["waiter"]["runnable_ns"] <= row["wait_ns"] == row["wait_max_ns"] <= waited,
      row, waited, threads["waiter"])
check("waiter: blocked", HOLD * 0.95 <= threads["waiter"]["blocked_sync_ns"] <= waited, threads["waiter"], waited)
lock = [l for l in locks if l["type"] == "mutex" and l["name"] == "lock"]
check("lock: one mutex of that name", len(lock) == 1, locks)
held = said["main"]["held"]
check("lock: waits", lock[0]["acquired"] == 2 and lock[0]["contended"] == 1 and
      lock[0]["wait_ns"] == row["wait_ns"], lock)
lost_ns = sum(t["runnable_ns"] or 0 for t in report["threads"] if t["tid"] == said["main"]["tid"])
check("lock: held", 0.95 * held - lost_ns <= lock[0]["hold_max_ns"] <= 1.05 * held + 1e6 + lost_ns, lock, held, lost_ns)
functions = sorted(s["site"].split(" ")[0] for s in lock[0]["sites"])
check("lock: sites", functions == ["await", "main"], lock[0]["sites"])

slept = said["sleeper"]["slept"]
check("sleeper: blocked otherwise", 0.9 * SLEEPS * SLEEP <= threads["sleeper"]["blocked_other_ns"] <= 1.1 * slept,
      threads["sleeper"], slept)
check("sleeper: every sleep", threads["sleeper"]["switches_voluntary"] >= (
    SLEEPS if source != "lttng" else said["sleeper"]["voluntary"]), threads["sleeper"])
forked = said["parent"]["forked"]
# Only the tracepoints distinguish this sleep from others.
kind = "blocked_io_ns" if perf else "blocked_other_ns"
check("parent: blocked, uninterruptible", 0.9 * CHILD <= threads["parent"][kind] <= 1.1 * forked,
      threads["parent"], forked)
# The recorded blocking call tells that a sleep is in read().
check("reader: blocked in I/O", 0.9 * PIPE <= threads["reader"]["blocked_io_ns"] <= 1.1 * said["reader"]["read"],
      threads["reader"], said["reader"])
check("reader: and in nothing else", (threads["reader"]["blocked_other_ns"] or 0) <= 0.1 * PIPE, threads["reader"])
check("spinner: does not block", threads["spinner"]["blocked_sync_ns"] == 0, threads["spinner"])
for name in ("pinger", "ponger"):
    row = sync[said[name]["tid"], "sem_wait"]
    check("%s: calls" % name, row["calls"] == TURNS == sync[said[name]["tid"], "sem_post"]["calls"], row)
    check("%s: blocked" % name, row["blocked"] <= threads[name]["switches_voluntary"] and
          row["blocked"] <= TURNS, row, threads[name])
    check("%s: blocked within its waits" % name,
          threads[name]["blocked_sync_ns"] <= row["wait_ns"] <= said[name]["played"], threads[name], row)
if perf:
    # Almost all of its voluntary switches are those of its waits.
    for name in ("pinger", "ponger"):
        check("%s: a switch for each blocking wait" % name, threads[name]["switches_voluntary"] <=
              1.1 * sync[said[name]["tid"], "sem_wait"]["blocked"] + 10, threads[name])
# When several programs record at once, a wake-up by another program's task is sometimes missed.
switches = sum(t["switches_voluntary"] for t in report["threads"] if t["switches_voluntary"])
unwoken = [q for q in report["quality"] if q["what"] == "ended a sleep without a recorded wake-up"]
check("wake-ups", sum(q["count"] for q in unwoken) <= 0.05 * switches, unwoken)
quality = [q for q in report["quality"] if "thread " in (q["where"] or "") and q not in unwoken]
check("nothing contradicts itself", not quality, quality)
for line in bad:
    print("FAIL: " + line)
sys.exit(1 if bad else 0)
