#!/bin/bash
# SPDX-License-Identifier: MIT
# All CPUs read folded stacks in parallel; the output is the same as if all records were read in time order:
# stacks in the order of first appearance, and the same file from one CPU as from all.
. "$GM_TOP/tests/calls/common.sh"
print=$GM_BUILD/tests/ctf/print_calls

# Prints thread, depth and count of each stack, in the order in which calls end or make other calls.
cat >order.py <<'END'
import re, sys

class Thread:
    def __init__(self):
        self.stack, self.held = [], False

threads, stacks = {}, {}

def tell(tid):
    thread = threads[tid]
    if thread.held:
        key = (tid, *thread.stack)
        stacks[key] = stacks.get(key, 0) + 1
        thread.held = False

for line in open("records"):
    _, tid, index, what, *where = line.split()
    tid = int(tid)
    thread = threads.setdefault(tid, Thread())
    tell(tid)
    if what == "call":
        thread.stack.append(where[1])
        thread.held = True
    elif thread.stack:
        thread.stack.pop()
want = [(key[0], len(key) - 1, n) for key, n in stacks.items()]
got = []
for line in open(sys.argv[1]):
    stack, n = line.rsplit(" ", 1)
    frames = stack.split(";")
    got.append((int(re.search(r"\(tid (\d+)", frames[0]).group(1)), len(frames) - 1, int(n)))
if got != want:
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    sys.exit(f"expected {len(want)} stacks, got {len(got)}; line {at + 1}: expected {want[at:at + 3]}, got {got[at:at + 3]}")
END

# in_order CALLS: checks the file `all`
in_order()
{
	"$print" gprof-mt.data >records || fail "records"
	[ "$(grep -c call records)" -ge "$1" ] || fail "$(grep -c call records) calls"
	python3 order.py all || fail "not in order"
}

build_from sequence sequence.c -pg -mfentry -minstrument-return=call
configure
fresh ./sequence tree 6 || fail "exit status $?"
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
for what in calls time; do
	"$gprof_mt" export --format folded --what $what -o all || fail "$what: exit status $?"
	taskset -c "$cpu" "$gprof_mt" export --format folded --what $what -o one || fail "$what, one CPU: exit status $?"
	cmp all one || fail "$what: the file from one CPU differs"
done
"$gprof_mt" export --format folded --what calls -o all || fail "exit status $?"
in_order 1000

# With so many stacks, one thread reads all calls.
build_from many_stacks many_stacks.c -pg -mfentry -minstrument-return=call
fresh ./many_stacks 2 17 || fail "exit status $?"
"$gprof_mt" export --format folded --what calls -o all || fail "exit status $?"
[ "$(wc -l <all)" -eq $((2 * ((1 << 18) - 1))) ] || fail "expected $((2 * ((1 << 18) - 1))) stacks, got $(wc -l <all)"
in_order 500000
exit 0
