#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The lines that record prints at its end, of a trace that Babeltrace reads, and which is too long: the waits of the
# first part, in which no wait lasts longer than that part, and the next command.
. "$GM_TOP/tests/lib.sh"
build steady_waits

# recorded BYTES: as if no more than that could be read quickly
recorded()
{
	rm -rf gprof-mt.data
	GPROF_MT_READER=babeltrace GPROF_MT_SUMMARY_BYTES=$1 "$gprof_mt" record --profile applic-only \
		--set sync.mode=all ./steady_waits 300000 2>err || fail "$1: $(cat err)"
	tail -1 err | grep -qxE 'gprof-mt: next: gprof-mt report (locks|threads|io)' || fail "$1: $(cat err)"
}

recorded $((1 << 40))
! grep -E 'in the first' err || fail "all can be read: $(cat err)"
bytes=$(du -cb gprof-mt.data/[0-9]*/user/stream_* | tail -1 | cut -f1)
recorded $((bytes / 4))
cat err
python3 - err <<'END_PYTHON' || fail "a part: $(cat err)"
import re, sys
units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
def ns(value, unit):
    return float(value) * units[unit]
text = open(sys.argv[1]).read()
part = re.search(r": waits in the first ([0-9.]+) (\w+) of ([0-9.]+) (\w+), without any later one; there are too many synch-events", text)
first_ns, all_ns = ns(part[1], part[2]), ns(part[3], part[4])
assert 0.05 * all_ns < first_ns < 0.9 * all_ns, part[0]
waits = re.findall(r": waited ([0-9.]+) (\w+) for (\w+)", text)
# one thread waits for each mutex, and main() for one thread at a time
assert waits and {wait[2] for wait in waits} <= {"often", "seldom"}, text
# main() waits for a thread at the end of the part; no wait of it may have ended before
idle = re.search(r": idle ([0-9.]+) (\w+) (?:.*; longest ([0-9.]+) (\w+) for |in nanosleep)", text)
assert idle[3] or ns(*idle.group(1, 2)) <= 6 * first_ns, text  # the sleep of all threads
for value, unit in [wait[:2] for wait in waits] + [idle.group(1, 2), idle.group(3, 4)] * bool(idle[3]):
    assert ns(value, unit) <= 1.01 * first_ns, (value, unit, part[0])
END_PYTHON
