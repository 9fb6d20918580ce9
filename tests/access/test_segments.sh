#!/bin/bash
# SPDX-License-Identifier: MIT
# The segments of sections whose accesses are known: bytes, order, sites, changes, nested and overlapping sections,
# waits, more than 64 lines, more lines than are recorded, and the cost of a section that repeats. Programs without the
# library have no accesses, and readers that do not know the trace are not disturbed by it.
. "$GM_TOP/tests/access/common.sh"

for compiler in $(compilers); do
	# shellcheck disable=SC2046 # several flags
	instrumented segments "$compiler" $(reads "$compiler")
	record_all d ./segments >addresses 2>err || fail "$compiler: $(cat err)"
	[ ! -s err ] || fail "$compiler: $(cat err)"
	readelf -sW segments | awk '$4 == "FUNC" { print $8, $2, $3 }' >functions
	python3 - <<'END' || fail "$compiler: see above"
import glob, os, struct, sys
sys.path.insert(0, os.environ["GM_TOP"] + "/tests/access")
from segments import segments_of

trace, = glob.glob("d/[0-9]*/accesses")
segments = segments_of(trace)
data, many, too_many, n_many, n_too_many, is_open = map(int, open("addresses").read().split())
counter, same, changes, other = data, data + 8, data + 9, data + 64
loads = open(glob.glob("d/[0-9]*/maps")[0]).readlines()
text_start = min(int(line.split()[2], 16) for line in loads if line.endswith("/segments\n"))
functions = [(name, int(start, 16), int(size, 0)) for name, start, size in map(str.split, open("functions"))]


def function_at(site):
    found = [name for name, start, size in functions if start < site - text_start <= start + size]
    return found[0] if found else None


def span(start, n):
    return set(range(start, start + n))


# A thread that increments a counter 1,000 times.
main = segments[-1].tid
thread = segments[0].tid
repeated = [segment for segment in segments if segment.tid == thread]
assert len(repeated) == 1000 and main != thread, len(repeated)
for i, segment in enumerate(repeated):
    assert segment.read() == segment.written() == span(counter, 8), vars(segment)
    assert (segment.reads, segment.writes, segment.flags) == (1, 1, 0), vars(segment)
    carried = 2 if (i + 1) % 256 == 0 else 1
    assert segment.changed() == span(counter, carried), (i, segment.changed())
    line, = segment.lines
    assert (line.first, line.last) == (1, 2) or (line.first, line.last) == (1, 1), vars(line)
    assert function_at(line.first_site) in ("repeat", "run") and line.first_site <= line.last_site, vars(line)
assert len({segment.set for segment in repeated}) == 2, "sets"
times = [segment.end_ns for segment in repeated]
assert times == sorted(times) and all(segment.duration < 10**9 for segment in repeated)

rest = [segment for segment in segments if segment.tid == main]
(back, forth, first, second, third, before, after, large, larger, last) = (
    [segment for segment in rest if segment.writes or segment.lines[0].address == many])
# Bytes that get the value that they had, or get it back, have not changed.
assert back.written() == {same, changes} and back.changed() == set() and back.writes == 3, vars(back)
assert forth.written() == {same, changes} and forth.changed() == {changes}, vars(forth)
# A segment ends at each operation; accesses after the last release are in none.
assert (first.written(), second.written(), third.written()) == (span(counter, 8), span(other, 8), {same})
assert first.end_ns - first.duration <= first.end_ns <= second.end_ns - second.duration
# The condition's mutex is free in the wait.
assert before.written() == span(counter, 8) and after.written() == span(other, 8)
assert span(is_open, 4) <= {byte for segment in rest for byte in segment.read()}
opened, = [segment for segment in segments if segment.tid not in (main, thread)]
assert opened.written() == span(is_open, 4) and opened.end_ns <= after.end_ns
# More than 64 lines, in several events.
assert large.written() == large.changed() == span(many, n_many) and large.writes == n_many and large.flags == 0
assert [line.address for line in large.lines] == list(range(many, many + n_many, 64))
assert [line.first for line in large.lines] == [1 + 64 * i for i in range(n_many // 64)]
# More lines than a set can have: the accesses of those that have no place are counted.
n_lines = n_too_many // 64
assert len(larger.lines) == 8192 and larger.kind == "segment_long" and larger.flags == 1, vars(larger)
assert larger.writes == n_lines + 2 and larger.reads == 2, (larger.reads, larger.writes)
assert larger.left_out in (n_lines - 8192 + 1, n_lines - 8192 + 2), larger.left_out
assert larger.lines[0].first == 1 and larger.lines[0].last > n_lines
assert last.written() == span(counter, 8) and last.flags == 0 and last.left_out == 0, vars(last)

# The bytes of the thread's stream, read on their own: a repeated segment costs 22.
n_bytes = 0
for path in glob.glob(trace + "/stream_*"):
    packets, at = open(path, "rb").read(), 0
    while at < len(packets):
        content, size, _, _, tid = struct.unpack_from("<QQQQI", packets, at + 32)
        if tid & 0x3fffffff == thread:
            n_bytes += content // 8 - 72
        at += size // 8
n_defined = 2 * (5 + 8 + 56)
assert n_bytes <= 24 * 1000 + n_defined, n_bytes
print(f"{(n_bytes - n_defined) / 1000} bytes for each repeated segment")
END
	# record prints its size, apart from that of synch-events, of which it reads the waits.
	"$gprof_mt" record -o s --set sync.mode=all --set kernel.source=none -- ./segments >out 2>err || fail "record: $(cat err)"
	grep -qE ', [0-9.]+[^,]*[KM]iB of synch-events, [0-9.]+[^,]*[KM]iB of memory accesses, no sched' err ||
		fail "$compiler, record: $(cat err)"
	! grep -q estimates err || fail "$compiler, record: $(cat err)"
	rm -rf s
	# The other readers do not know the trace, and are not disturbed by it.
	"$gprof_mt" report -i d quality >out || fail "report: $(cat out)"
	grep -q 'nothing lost, nothing contradictory' out || fail "$compiler: $(cat out)"
	"$gprof_mt" report -i d >out 2>err && [ ! -s err ] || fail "report: $(cat err)"
	"$gprof_mt" export -i d --format html -o page.html >out 2>err || fail "export: $(cat err)"
done

# Without the library, and without locks, there is no trace.
bare segments gcc
record_all d ./segments.bare >out
[ -d "$(echo d/[0-9]*/user)" ] || fail "not recorded"
[ ! -e "$(echo d/[0-9]*/accesses)" ] || fail "a program without libaccess_trace has accesses"
echo 'int x; int main(void) { return x++; }' >empty.c
gcc -fsanitize=thread -c empty.c && gcc -o empty empty.o "${access_link[@]}" || fail "cannot compile"
record_all d ./empty
[ ! -e "$(echo d/[0-9]*/accesses)" ] || fail "a program without locks has accesses"

# --accesses=off: the program with the library, without accesses, and its operations as before. compiled is the default.
rm -rf d
"$gprof_mt" record -q -o d --accesses=off ./segments >out 2>err || fail "--accesses=off: $(cat err)"
[ -d "$(echo d/[0-9]*/user)" ] && [ ! -e "$(echo d/[0-9]*/accesses)" ] || fail "--accesses=off: $(ls d/[0-9]*)"
rm -rf d
"$gprof_mt" record -q -o d --accesses=compiled ./segments >out 2>err || fail "--accesses=compiled: $(cat err)"
[ -e "$(echo d/[0-9]*/accesses)" ] || fail "--accesses=compiled: no accesses"
! "$gprof_mt" record -q -o d2 --accesses=some ./segments 2>err || fail "--accesses=some was accepted"
grep -q "record: no mode 'some' of accesses: use sampled, compiled or off;" err || fail "some: $(cat err)"

# libtsan beside it: one line, and nothing is recorded. Only one copy of libaccess_trace records.
echo 'int main(void) { return 0; }' >none.c
if gcc -fsanitize=thread -o has_tsan none.c 2>/dev/null && ./has_tsan 2>/dev/null; then
	gcc -fsanitize=thread -o both segments.o "${access_link[@]}" || fail "cannot link both"
	LD_LIBRARY_PATH=$GM_BUILD ./both >out 2>err || fail "with libtsan: $(cat err)"
	line='gprof-mt: cannot record accesses: libtsan is loaded, too; link without -fsanitize=thread'
	[ "$(grep -c "$line" err)" = 1 ] ||
		fail "with libtsan: $(cat err)"
	[ ! -e "$(echo gprof-mt.data/[0-9]*/accesses)" ] || fail "with libtsan: accesses were recorded"
fi
# Behind libc its functions are not called: one line. The flags of pkg-config come before libc.
gcc -o behind segments.o -Wl,--no-as-needed -lc "${access_link[@]}" || fail "cannot link behind libc"
record_all d ./behind >out 2>err || fail "behind libc: $(cat err)"
[ "$(cat err)" = "gprof-mt: accesses by memcpy() and the like, and blocks of the heap, are not recorded: \
libc comes before libaccess_trace; link with -laccess_trace before -lc" ] || fail "behind libc: $(cat err)"
babeltrace2 d/[0-9]*/accesses | grep -q segment || fail "behind libc: no segments"
gcc -o twice segments.o "$GM_BUILD/libaccess_trace.a" -Wl,--no-as-needed "${access_link[@]}" || fail "cannot link twice"
record_all d ./twice >out 2>err || fail "with two copies: $(cat err)"
[ "$(cat err)" = "gprof-mt: cannot record accesses: the program has two copies of libaccess_trace; link only one" ] ||
	fail "with two copies: $(cat err)"
