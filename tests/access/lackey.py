#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lackey.py COMPILER TRACE MAPS OUT CAPTURE [recording]: compares the sections of a program of access/exact as recorded
in CAPTURE with the accesses that valgrind's lackey saw in each section (TRACE, on the same binary, not recorded unless
`recording` says so). OUT is the program's output, MAPS its memory map under valgrind.

The sets of bytes read and of bytes written are equal, except:
- libc's functions read whole vectors: up to 63 bytes before or behind those that the result depends on. An access of
  lackey counts as libc's if the instruction is in libc.
- libstdc++ is not compiled with -fsanitize=thread: accesses by its instructions are in lackey's sets only.
- So are those of libc's qsort(), which moves the elements itself.
- A run that is recorded under lackey: our libraries read whole lines, so their reads are in lackey's sets only.
- KNOWN: bytes for which the compiler calls no function or one with another size.
- UNITS: bytes beside accessed ones, in an aligned unit of that many, since the code accesses more or fewer bytes than
  the program says: gcc's hooks name the whole integer of a bit-field, of which the code accesses a part, or some bytes
  more; a read whose result is narrowed becomes a narrow one; clang joins neighboring writes, and reads with them."""
import re
import sys

from sections import Complaints, Region, far_from, recorded_sections, traced_sections

OURS = "libaccess_trace.so", "libsync_trace.so"

# By section, difference and compiler: offsets in the region.
KNOWN = {
    # A long double is 16 bytes to gcc, of which the processor stores 10. clang does not instrument objects of 10 bytes.
    ("scalars", "written, but not by lackey", "gcc"): range(122, 128),
    ("scalars", "not written, but by lackey", "clang"): range(112, 122),
    # gcc's code for bit-fields accesses other parts of the containing integer than gcc instruments; clang does not
    # instrument those that it accesses with 6 bytes.
    ("bit_fields", "written, but not by lackey", "gcc"): range(517, 520),
    ("bit_fields", "not read, but by lackey", "gcc"): range(525, 528),
    ("bit_fields", "not written, but by lackey", "clang"): range(520, 526),
    ("bit_fields", "not read, but by lackey", "clang"): range(520, 526),
}
# libstdc++'s header calls __builtin_memcpy(), which gcc expands in line if the length is known.
KNOWN["cuts", "not written, but by lackey", "gcc"] = range(1184, 1229)
# clang does not instrument vectors of 32 bytes.
KNOWN["vectors", "not written, but by lackey", "clang"] = range(4096, 4128)
KNOWN["vectors", "not read, but by lackey", "clang"] = [*range(4096, 4128), *range(4256, 4288)]
for compiler in "gcc", "clang":
    # A sequentially consistent store is an exchange, which reads as well.
    KNOWN["atomics", "not read, but by lackey", compiler] = [1101, 1122, 1123, *range(1164, 1168), *range(1232, 1240)]

UNITS = {
    ("flexible_arrays", "read, but not by lackey", "gcc"): 2,
    ("flexible_arrays", "read, but not by lackey", "clang"): 2,
    ("bit_insertions", "not read, but by lackey", "clang"): 8,
    ("vector_growth", "not read, but by lackey", "clang"): 8,
}
for name in "bit_insertions", "bit_hits", "bit_deletions":
    for what in "written, but not by lackey", "not read, but by lackey":
        UNITS[name, what, "gcc"] = 4

compiler, trace, maps_file, out, capture = sys.argv[1:6]
is_recording = sys.argv[6:] == ["recording"]
maps = []
for line in open(maps_file):
    found = re.match(r"([0-9a-f]+)-([0-9a-f]+) ..x. \S+ \S+ \S+\s+(/.*)", line)
    if found:
        maps.append((int(found[1], 16), int(found[2], 16), found[3].rsplit("/", 1)[1]))


def kind_of(address, known={}):
    page = address >> 12
    if page not in known:
        name = next((name for start, stop, name in maps if start <= address < stop), "")
        known[page] = ("libc" if name.startswith("libc.") else "libstdc++" if name.startswith("libstdc++") else
                       "hooks" if is_recording and name in OURS else "program")
    return known[page]


region = Region(out)
recorded = recorded_sections(capture, region, 0)
problems = Complaints(KNOWN, UNITS)
n_read = n_written = 0
for name, ours, theirs in zip(region.names, recorded, traced_sections(trace, region, kind_of)):
    read, written = ours.read["program"], ours.written["program"]
    # Our functions write what the program's atomic operations do.
    by_program = theirs.written["program"] | theirs.written["hooks"]
    by_libc = set() if name == "sort_by_libc" else theirs.written["libc"]
    problems.complain((name, "written, but not by lackey", compiler), written,
                      by_program | by_libc | theirs.written["libstdc++"])
    problems.complain((name, "not written, but by lackey", compiler), by_program | by_libc, written)
    problems.complain((name, "read, but not by lackey", compiler), read, set().union(*theirs.read.values()))
    problems.complain((name, "not read, but by lackey", compiler), theirs.read["program"], read)
    problems.complain((name, "not read, but by lackey in libc, and not beside a byte that is", compiler),
                      far_from(theirs.read["libc"], read), read)
    n_read, n_written = n_read + len(read), n_written + len(written)
print(f"{len(region.names)} sections, {n_read} bytes read, {n_written} written")
sys.exit(problems.n > 0)
