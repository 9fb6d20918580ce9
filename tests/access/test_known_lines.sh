#!/bin/bash
# SPDX-License-Identifier: MIT
# Sets whose lines have been defined before name them: all segments have the lines of the program, with the ordinals of
# their accesses, and take little space. If a packet of the trace is missing, no set has other lines than before.
. "$GM_TOP/tests/access/common.sh"
export PYTHONPATH=$GM_TOP/tests/access

instrumented random_lines gcc
rm -rf d
"$gprof_mt" record -q -o d --set sync.mode=all --set sync.buffer=16K --set kernel.source=none --set sample.stacks=off -- \
	./random_lines >out 2>err || fail "$(cat err)"
python3 - <<'END' || fail "see above"
import glob, os
from segments import segments_of

SECTIONS, MOST, CHOICES = 8000, 12, 100
state = 1


def following():
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % 2 ** 64
    return state >> 33 & 0xffffffff


base = int(open("out").read())
directory = glob.glob("d/[0-9]*/accesses")[0]
segments = segments_of(directory)
assert len(segments) == SECTIONS, len(segments)
n_lines = 0
for i, segment in enumerate(segments):
    is_large = i % 200 == 199
    expected = {}
    for k in range(700 if is_large else 1 + following() % MOST):
        number = following() % (MOST * CHOICES) if is_large else k * CHOICES + following() % CHOICES
        # an increment reads, then writes
        expected.setdefault(number, [2 * k + 1, 0])[1] = 2 * k + 2
    found = [((line.address - base) // 64, line.read, line.written, line.first, line.last) for line in segment.lines]
    assert found == [(number, 1 << number % 64, 1 << number % 64, first, last)
                     for number, (first, last) in expected.items()], f"section {i}: {found}"
    n_lines += len(found)
n_bytes = sum(os.path.getsize(path) for path in glob.glob(f"{directory}/stream_*"))
assert n_bytes < 56 * n_lines * 2 / 3, f"{n_bytes} bytes for {n_lines} lines"
END

# Both readers see the same. Without a packet, the segments that are left are among them.
"$GM_BUILD/tests/access/print_instances" d >all || fail "$(cat all)"
GPROF_MT_READER=babeltrace "$GM_BUILD/tests/access/print_instances" d >theirs || fail "$(cat theirs)"
cmp all theirs || fail "the two readers differ: $(diff all theirs | head -n 4)"
for packet in 0 1 3; do
	rm -rf cut
	cp -r d cut
	python3 - $packet <<'END' || fail "cannot cut packet $packet"
import glob, struct, sys

path, = glob.glob("cut/[0-9]*/accesses/stream_0")
data, at, packets = open(path, "rb").read(), 0, []
while at < len(data):
    assert data[at:at + 4] == b"\xc1\x1f\xfc\xc1", at
    n_bytes = struct.unpack_from("<Q", data, at + 40)[0] // 8
    packets.append(data[at:at + n_bytes])
    at += n_bytes
assert len(packets) > 4, len(packets)
del packets[int(sys.argv[1])]
open(path, "wb").write(b"".join(packets))
END
	"$GM_BUILD/tests/access/print_instances" cut >rest || fail "packet $packet: $(cat rest)"
	python3 - <<'END' || fail "packet $packet: see above"
def segments(name):
    return {line.rstrip() for line in open(name) if line.startswith("segment")}

all, rest = segments("all"), segments("rest")
assert rest <= all, f"other segments than before: {sorted(rest - all)[:2]}"
assert 100 < len(rest) < len(all), (len(rest), len(all))
END
	grep -q '^problem.*lines that are missing' rest || fail "packet $packet: no problem: $(grep -v '^[si]' rest | head)"
done
