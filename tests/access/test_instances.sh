#!/bin/bash
# SPDX-License-Identifier: MIT
# The accesses of instances of critical sections, as postproc reads them: the segments are those that babeltrace2
# prints, our reader and the one through Babeltrace agree, and each instance has the segments in its time.
. "$GM_TOP/tests/access/common.sh"

read_all()
{
	"$GM_BUILD/tests/access/print_instances" d >ours || fail "$1: $(cat ours)"
	GPROF_MT_READER=babeltrace "$GM_BUILD/tests/access/print_instances" d >theirs || fail "$1: $(cat theirs)"
	cmp ours theirs || fail "$1: the two readers differ: $(diff ours theirs | head)"
	! grep '^problem' ours || fail "$1: see above"
	python3 - "$1" <<'END' || fail "$1: see above"
import collections, glob, os, sys
sys.path.insert(0, os.environ["GM_TOP"] + "/tests/access")
from segments import segments_of


def text(lines):
    return ",".join(":".join(f"{value:x}" for value in (line.address, line.read, line.written, line.changed,
                                                        line.first_site, line.last_site))
                    for line in sorted(lines, key=lambda line: line.address)) or "-"


def bytes_of(texts):
    """Bytes read, written and changed of several sets."""
    sets = [set(), set(), set()]
    for line in ",".join(texts).split(","):
        if line != "-":
            address, *masks = [int(value, 16) for value in line.split(":")[:4]]
            for to, mask in zip(sets, masks):
                to |= {address + i for i in range(64) if mask >> i & 1}
    return sets


expected = collections.Counter(
    f"segment {s.end_ns} {s.tid} {s.duration} {s.reads} {s.writes} {s.left_out} {s.flags} {text(s.lines)}"
    for s in segments_of(glob.glob("d/[0-9]*/accesses")[0]))
lines = open("ours").read().splitlines()
assert expected == collections.Counter(line for line in lines if line.startswith("segment")), "segments"

by_thread = collections.defaultdict(list)
for line in lines:
    kind, *words = line.split()
    if kind == "segment":
        end, tid, duration, reads, writes = map(int, words[:5])
        by_thread[tid].append((end - duration, end, reads, writes, words[-1]))
n_instances = 0
for line in lines:
    kind, *words = line.split()
    if kind != "instance":
        continue
    begin, end, tid = map(int, words[:3])
    within = [s for s in by_thread[tid] if begin <= s[0] and s[1] <= end]
    assert int(words[5]) == sum(s[2] for s in within) and int(words[6]) == sum(s[3] for s in within), line
    assert bytes_of([words[-1]]) == bytes_of([s[4] for s in within]), line
    n_instances += 1
n_expected = {"segments": 1000 + 2 + 2 + 3 + 2 + 1, "many_sets": 18000, "random_lines": 8000}[sys.argv[1]]
assert n_instances == n_expected, n_instances
END
}

for program in segments random_lines many_sets; do
	instrumented "$program" gcc
	record_all d "./$program" >out 2>&1 || fail "$program: $(cat out)"
	read_all "$program"
done
# At the end, only the streams' places hold sets.
sets=$(sed -n 's/^sets //p' ours)
[ "$sets" -le $((4096)) ] || fail "$sets sets at the end"
