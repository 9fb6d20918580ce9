# SPDX-License-Identifier: MIT
"""check_full_level.py SAID EVENTS FILLED: compares what the threads of known_syscalls.c printed (SAID) with
the events, as babeltrace2 prints them. FILLED is the number of switches that perf omitted. A kernel that
drops events of an idle CPU also omits the end of a timer there."""
import re
import sys

said = {}
for line in open(sys.argv[1]):
    words = line.split()
    if words[:1] == ["thread"]:
        said[int(words[1])] = dict(zip(words[2::2], words[3::2]))
bad = []


def check(what, good, *figures):
    if not good:
        bad.append("%s: %s" % (what, " ".join(str(f) for f in figures)))


events = []
for line in open(sys.argv[2]):
    match = re.match(r"\[[\d.]+\] \([^)]*\) \S+ (\w+): \{ cpu_id = \d+ \}, (.*)", line)
    check("a line", match, line)
    groups = [dict(re.findall(r"(\w+) = (\"[^\"]*\"|[-\w]+)", group)) for group in match[2].split("}, {")]
    events.append((match[1], groups[0] if len(groups) > 1 else {}, groups[-1]))


def of(name, tid):
    return [fields for event, context, fields in events if event == name and context.get("tid") == str(tid)]


check("two threads spoke", len(said) == 2, said)
for tid, mine in said.items():
    n, fd = int(mine["calls"]), 100 + int(mine["calls"])
    check("getppid", len(of("syscall_entry_getppid", tid)) == len(of("syscall_exit_getppid", tid)) == n, tid, n)
    reads = [r for r in of("syscall_entry_read", tid) if r["fd"] == str(fd)]
    check("read", len(reads) == n and all(r["count"] == "7" for r in reads), tid, len(reads))
    check("result of read", len([r for r in of("syscall_exit_read", tid) if r["ret"] == "7"]) >= n, tid)
    sleeps = int(mine["sleeps"])
    check("clock_nanosleep", len(of("syscall_entry_clock_nanosleep", tid)) == sleeps, tid)
    timers = {t["hrtimer"] for t in of("timer_hrtimer_start", tid)}
    check("timers started", len(of("timer_hrtimer_start", tid)) >= sleeps, tid)
    expired = [f for event, _, f in events if event == "timer_hrtimer_expire_entry" and f["hrtimer"] in timers]
    check("timers expired", len(expired) >= sleeps or int(sys.argv[3]) > 0, tid, len(expired))
    raised = [s for s in of("signal_generate", tid) if s["sig"] == "12" and s["pid"] == str(tid)]
    taken = [s for s in of("signal_deliver", tid) if s["sig"] == "12" and s["sa_handler"] != "0x0"]
    check("signals", len(raised) == len(taken) == int(mine["signals"]), tid, len(raised), len(taken))
    first, pages = int(mine["first"], 16), int(mine["pages"])
    faults = {(int(f["address"], 16) - first) // 4096 for f in of("x86_exceptions_page_fault_user", tid)
              if 0 <= int(f["address"], 16) - first < pages * 4096}
    check("page faults", len(faults) == pages, tid, len(faults), pages)
    # Between the entry and the exit of a system call there are only events that the kernel itself causes.
    inside = None
    for event, context, _ in events:
        if context.get("tid") != str(tid) or not event.startswith("syscall_"):
            continue
        way, name = event[len("syscall_"):].split("_", 1)
        if way == "entry":
            check("an entry within a call", inside is None, tid, inside, name)
            inside = name
        else:
            # The thread's first exit is that of its parent's clone.
            check("an exit of another call", name in (inside, "clone", "clone3", "unknown"), tid, inside, name)
            inside = None
    check("it ends in exit", inside == "exit", tid, inside)
for event, context, _ in events:
    if event.startswith(("syscall_", "x86_exceptions", "signal_deliver")):
        check("whose it is", "tid" in context, event)
issued = [(f["dev"], f["sector"]) for event, _, f in events if event == "block_rq_issue"]
for event, _, f in events:
    if event == "block_rq_complete":
        check("block I/O", (f["dev"], f["sector"]) in issued, f)
for line in bad[:20]:
    print("FAIL: " + line)
sys.exit(1 if bad else 0)
