# SPDX-License-Identifier: MIT
"""reasons.py SAID ACTOR MAIN LEVEL FILLED: checks the timelines of reasons.c's threads, in JSON. FILLED is
the number of switches that perf omitted, as some kernels do; then one of two sides may be missing."""
import json
import sys

words = open(sys.argv[1]).read().split()
said = dict(zip(words[::2], words[1::2]))
actor_tid, main_tid = int(said["thread"]), int(said["main"])
actor, main = (json.load(open(name)) for name in sys.argv[2:4])
full = sys.argv[4] == "full"
bad = []


def check(what, good, *figures):
    if not good:
        bad.append("%s: %s" % (what, " ".join(str(f) for f in figures)))


lines = actor["timeline"]
check("of that thread alone", {line["tid"] for line in lines} == {actor_tid})
times = [line["time_ns"] for line in lines if line["event"] != "syscall"]
check("in order", times == sorted(times))

# Effects of other load are ignored: that another program ran, and waits for memory. So are waits by a bare
# futex: the program makes none, the libraries wait this way for a helper that opens a file; without system calls
# in the capture, these are unknown.
chance = ("preempted", "quantum expired", "yield", "page fault", "disk", "futex") + (() if full else ("unknown",))
off = [line for line in lines if line["event"] == "off CPU" and line["reason"] not in chance]
off = [line for line, before in zip(off, [None] + off) if not before or line["reason"] != before["reason"]]
wanted = "mutex semaphore condition rwlock barrier read join poll sleep child".split()
found = [line["reason"] for line in off]
# Its first event opens a file of the library, in a helper for which it waits.
while found and found[0] == "unknown":
    del found[0]
# At the end the spinner may still be there, or may end before the thread leaves its CPU.
check("reasons", found[:len(wanted)] == wanted and set(found[len(wanted):]) <= {"join", "exit"}, found, wanted)
by_reason = {line["reason"]: line for line in reversed(off)}
if not bad:
    for reason, name in (("mutex", "lock"), ("semaphore", "tokens"), ("condition", "turn"), ("rwlock", "book"),
                         ("barrier", "gate")):
        check("object of " + reason, by_reason[reason]["object"] == name, by_reason[reason])
        check("where", "at act (reasons.c:" in by_reason[reason]["text"], by_reason[reason])
    for reason in ("mutex", "rwlock"):
        check("holder of " + reason, by_reason[reason]["other_tid"] == main_tid, by_reason[reason])
        check("since", "since main (reasons.c:" in by_reason[reason]["text"], by_reason[reason])
    check("descriptor", "on fd %s" % said["read"] in by_reason["read"]["text"], by_reason["read"])

# The spinner was on its CPU meanwhile.
taken = [line for line in lines if line["event"] == "off CPU" and line["reason"] in ("preempted", "quantum expired") and
         "join" in by_reason and line["time_ns"] > by_reason["join"]["time_ns"]]
check("the CPU was taken from it", taken)

# Each time it left its CPU it came back, and the parts add up.
events = [line["event"] for line in lines if line["event"] in ("off CPU", "on CPU")]
check("off and on take turns", int(sys.argv[5]) > 0 or all(a != b for a, b in zip(events, events[1:])))
came = [line for line in lines if line["event"] == "on CPU" and line["duration_ns"] is not None]
for line in came:
    if line["runnable_ns"] is not None:
        check("parts", line["blocked_ns"] + line["runnable_ns"] == line["duration_ns"], line)
woken = [line for line in lines if line["event"] == "woken" and line["other_tid"] == main_tid]
check("woken by main", len(woken) >= 3, len(woken))
check("and blocked until then", [line for line in came if line["blocked_ns"] and line["reason"] == "mutex"], came)
wakes = [line for line in main["timeline"] if line["event"] == "wakes" and line["other_tid"] == actor_tid]
check("main wakes it", {line["time_ns"] for line in woken} <= {line["time_ns"] for line in wakes}, len(wakes))
check("what is missing is said", any("profile full" in note for note in actor["notes"]) != full, actor["notes"])
for line in bad:
    print("FAIL: " + line)
sys.exit(1 if bad else 0)
