#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lackey.py COMPILER TRACE MAPS OUT CAPTURE [recording]: compares the sections of programs/exact.h as recorded in
CAPTURE with the accesses that valgrind's lackey saw between the two stores of each section (TRACE, on the same
binary, not recorded unless `recording` says so). OUT is the program's output, MAPS its memory map under valgrind.

Only bytes of the program's region are compared, which excludes two classes of accesses:
- the stack: local variables that no other thread can see, spilled registers, return addresses;
- the insides of libc, of the loader, and of the libraries that are measured.
In the region the sets of bytes read and of bytes written are equal, except:
- libc's functions read whole vectors: up to 63 bytes before or behind those that the result depends on. An access of
  lackey counts as libc's if the instruction is in libc.
- libstdc++ is not compiled with -fsanitize=thread: accesses by its instructions are in lackey's sets only.
- A run that is recorded under lackey: our libraries read whole lines, so their reads are in lackey's sets only.
- KNOWN: bytes for which the compiler calls no function or one with another size."""
import collections
import glob
import re
import sys

from segments import segments_of

VECTOR = 64
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
for compiler in "gcc", "clang":
    # A sequentially consistent store is an exchange, which reads as well.
    KNOWN["atomics", "not read, but by lackey", compiler] = [1101, 1122, 1123, *range(1164, 1168), *range(1232, 1240)]

compiler, trace, maps_file, out, capture = sys.argv[1:6]
is_recording = sys.argv[6:] == ["recording"]
*names, last = open(out).read().splitlines()
base, size = int(last.split()[0], 16), int(last.split()[1])
begin, end = base, base + 8
maps = []
for line in open(maps_file):
    found = re.match(r"([0-9a-f]+)-([0-9a-f]+) ..x. \S+ \S+ \S+\s+(/.*)", line)
    if found:
        maps.append((int(found[1], 16), int(found[2], 16), found[3].rsplit("/", 1)[1]))


def object_at(address, known={}):
    page = address >> 12
    if page not in known:
        known[page] = next((name for start, stop, name in maps if start <= address < stop), "")
    return known[page]


class Section:
    def __init__(self):
        self.read, self.written = collections.defaultdict(set), collections.defaultdict(set)  # by kind of object


def kind_of(name):
    return "libc" if name.startswith("libc.") else "libstdc++" if name.startswith("libstdc++") else "program"


def lackey_sections():
    found, section, instruction = [], None, 0
    for line in open(trace, errors="replace"):
        if line.startswith("I "):
            instruction = line
            continue
        if line[:3] not in (" L ", " S ", " M "):
            continue
        address, n = line[3:].split(",")
        address, n = int(address, 16), int(n)
        if not base <= address < base + size and not base <= address + n - 1 < base + size:
            continue
        if address == begin and line[1] == "S":
            section = Section()
            found.append(section)
        if section is None:
            continue
        name = object_at(int(instruction[3:].split(",")[0], 16))
        kind = kind_of(name)
        touched = range(max(address, base), min(address + n, base + size))
        if line[1] in "LM":
            section.read["hooks" if is_recording and name in OURS else kind].update(touched)
        if line[1] in "SM":
            section.written[kind].update(touched)
        if address == end and line[1] == "S":
            section = None
    return found


def in_region(some):
    return {byte for byte in some if base <= byte < base + size}


def ranges(some):
    some, text = sorted(some), []
    for byte in some:
        if text and text[-1][1] == byte:
            text[-1][1] += 1
        else:
            text.append([byte, byte + 1])
    return " ".join(f"{start - base - 64}..{stop - base - 65}" for start, stop in text[:12])


def near(byte, some):
    return any(other in some for other in range(byte - VECTOR + 1, byte + VECTOR))


segments = segments_of(glob.glob(capture + "/[0-9]*/accesses")[0])
recorded = [segment for segment in segments if begin in segment.written()]
expected = lackey_sections()
assert len(recorded) == len(expected) == len(names), (len(recorded), len(expected), len(names))
problems = 0


def complain(name, what, some):
    global problems
    some = {byte for byte in some if byte - base - 64 not in KNOWN.get((name, what, compiler), ())}
    if some:
        problems += 1
        print(f"{name}: {what}: {len(some)} bytes: {ranges(some)}")


for name, ours, theirs in zip(names, recorded, expected):
    assert ours.flags == 0, (name, ours.flags)
    read, written = in_region(ours.read()), in_region(ours.written())
    complain(name, "written, but not by lackey", written - theirs.written["program"] - theirs.written["libc"] -
             theirs.written["libstdc++"])
    complain(name, "not written, but by lackey", (theirs.written["program"] | theirs.written["libc"]) - written)
    complain(name, "read, but not by lackey", read - theirs.read["program"] - theirs.read["libc"] -
             theirs.read["libstdc++"] - theirs.read["hooks"])
    complain(name, "not read, but by lackey", theirs.read["program"] - read)
    complain(name, "not read, but by lackey in libc, and not beside a byte that is",
             {byte for byte in theirs.read["libc"] - read if not near(byte, read)})
print(f"{len(names)} sections, {sum(len(in_region(s.read())) for s in recorded)} bytes read, "
      f"{sum(len(in_region(s.written())) for s in recorded)} written")
sys.exit(problems > 0)
