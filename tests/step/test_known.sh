#!/bin/bash
# SPDX-License-Identifier: MIT
# Single steps of sections whose accesses are known: bytes, changes, sites, nested and overlapping sections, empty ones,
# waits, strings, bits, system calls. Each section has an event for each of its segments, and none is abandoned. The
# program sees neither the trap flag nor another errno.
. "$GM_TOP/tests/step/common.sh"

gcc -O1 -g -Wl,-z,now -o known "$programs/known.c" -pthread || fail "cannot compile"
WARM=1 ./known | sed 1d >expected
WARM=1 stepped d ./known >out 2>err || fail "$(cat err)"
[ ! -s err ] || fail "$(cat err)"
sed 1d out | cmp - expected || fail "another output: $(cat out)"
head -n 1 out >addresses
readelf -sW known | awk '$4 == "FUNC" { print $8, $2, $3 }' >functions
python3 - "$programs/known.c" <<'END' || fail "see above"
import glob
import subprocess
import sys
from segments import segments_of

counter_line = next(i for i, line in enumerate(open(sys.argv[1]), 1) if line == "\tdata.counter++;\n")
STEPPED, ABANDONED = 4, 8
trace, = glob.glob("d/[0-9]*/accesses")
segments = segments_of(trace)
data, source, target, is_open = map(int, open("addresses").read().split())
counter, same, changes, other, bits = data, data + 8, data + 9, data + 64, data + 72
main = segments[-1].tid
known = (range(data, data + 192), range(source, source + 4096), range(target, target + 4096), range(is_open, is_open + 4))


def of(found):
    return {byte for byte in found if any(byte in one for one in known)}


def span(start, n):
    return set(range(start, start + n))


bad = [vars(segment) for segment in segments if segment.flags != STEPPED]
assert not bad, bad
segments = [segment for segment in segments if segment.tid == main]
for i, segment in enumerate(segments[:300]):
    assert of(segment.read()) == of(segment.written()) == span(counter, 8), vars(segment)
    assert counter in segment.changed(), vars(segment)
    # Neither the stack of calls nor the loader's tables.
    assert (segment.reads, segment.writes, len(segment.lines)) == (1, 1, 1), vars(segment)
# As that of a call, the site of an access is an address behind it: the byte before is in the instruction.
start, size = next((int(start, 16), int(size)) for name, start, size in map(str.split, open("functions")) if name == "add")
for site in segments[0].lines[0].first_site, segments[0].lines[0].last_site:
    inside = (site - 1 - start) % 4096
    assert inside < size, (hex(site), hex(start), size)
    place = subprocess.check_output(["addr2line", "-e", "known", hex(start + inside)], text=True).split()[0]
    assert place.endswith(f"known.c:{counter_line}"), (place, counter_line)
rest = segments[300:]
assert (rest[0].reads, rest[0].writes, rest[0].set) == (0, 0, 0), vars(rest[0])
assert of(rest[1].read()) == span(counter, 8) and of(rest[1].written()) == span(other, 8), vars(rest[1])
nested = rest[2:5]
assert [of(s.written()) for s in nested] == [span(counter, 8), span(other, 8), {same}]
at = 5
for size in range(1, 300, 37):
    segment = rest[at]
    assert of(segment.written()) == span(target + 1, size), (size, vars(segment))
    assert of(segment.read()) == span(source + 3, size), (size, vars(segment))
    at += 1
special, calls = rest[at:at + 2]
assert of(special.written()) == span(bits + 56, 8) | span(source + 64, 16) | span(target + 2048, 5), vars(special)
assert of(special.read()) == span(bits + 56, 8) | span(source + 64, 16), vars(special)
assert of(special.written()) - of(special.read()) == span(target + 2048, 5)
assert of(calls.written()) == {changes} | span(other, 8), vars(calls)
waits = rest[at + 2:]
assert 1 <= len(waits) <= 3, len(waits)
assert set().union(*(of(s.read()) for s in waits)) == span(is_open, 4)
assert of(waits[-1].written()) == {same}, vars(waits[-1])
print(len(segments), "segments")
END

# Bound lazily, the first call of a function in a section abandons it: the loader saves all registers.
gcc -O1 -g -Wl,-z,lazy -o lazy "$programs/known.c" -pthread || fail "cannot compile"
WARM=1 stepped d ./lazy >out 2>err || fail "$(cat err)"
python3 - <<'END' || fail "lazy: see above"
import glob
from segments import segments_of

trace, = glob.glob("d/[0-9]*/accesses")
abandoned = [segment for segment in segments_of(trace) if segment.flags & 8]
assert 1 <= len(abandoned) <= 12, len(abandoned)
assert all(segment.flags >> 4 == 4 for segment in abandoned), [segment.flags for segment in abandoned]
END
