#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py OUT CAPTURE TRACE [OUT_COMPILED CAPTURE_COMPILED]: compares the sections of access/programs/exact.h that
were stepped (OUT: the output of that run) with the accesses that valgrind's lackey saw (TRACE, on the same binary), and
with the same sections of the compiled mode. Only bytes of the program's region are compared.

Against lackey, both sets of bytes are equal, but for the functions of libc, which are others under valgrind if the CPU
has vectors that valgrind does not know: reads of bytes within 63 of others.

Against the compiled mode, the differences are:
- libc's functions and copies of strings read whole vectors: up to 63 bytes beside those of the compiled mode;
- KNOWN: what hooks say otherwise than the code does, and what the compiler keeps in registers without hooks;
- code that was not compiled with -fsanitize=thread, as libstdc++, is seen by steps only (C++ is compared with lackey
  alone)."""
import glob
import sys

from segments import segments_of

VECTOR = 64
REGION = 64

# By section and difference: offsets in the region.
KNOWN = {
    # A long double is 16 bytes to gcc, of which the processor stores 10.
    ("scalars", "written only in the compiled mode"): range(122, 128),
    # gcc's code for bit-fields writes fewer bytes of the containing integer than its hooks say, and reads more.
    ("bit_fields", "written only in the compiled mode"): range(517, 520),
    ("bit_fields", "read only by steps"): range(525, 528),
    # Without hooks, gcc keeps what was just stored in a register.
    ("structures", "read only in the compiled mode"): range(2196, 2200),
}


class Run:
    def __init__(self, out, capture, flags):
        *self.names, last = open(out).read().splitlines()
        self.base, self.size = int(last.split()[0], 16), int(last.split()[1])
        segments = segments_of(glob.glob(capture + "/[0-9]*/accesses")[0])
        self.sections = [s for s in segments if self.base in s.written()]
        assert len(self.sections) == len(self.names), (capture, len(self.sections), len(self.names))
        for name, section in zip(self.names, self.sections):
            assert section.flags == flags, (capture, name, section.flags)

    def offsets(self, some):
        return {byte - self.base - REGION for byte in some if self.base <= byte < self.base + self.size}


def lackey_sections(trace, base, size):
    found, section = [], None
    for line in open(trace, errors="replace"):
        if line[:3] not in (" L ", " S ", " M "):
            continue
        address, n = line[3:].split(",")
        address, n = int(address, 16), int(n)
        if address + n <= base or address >= base + size:
            continue
        if address == base and line[1] == "S":
            section = (set(), set())
            found.append(section)
        if section is None:
            continue
        touched = {byte - base - REGION for byte in range(address, address + n) if base <= byte < base + size}
        if line[1] in "LM":
            section[0].update(touched)
        if line[1] in "SM":
            section[1].update(touched)
        if address == base + 8 and line[1] == "S":
            section = None
    return found


def ranges(some):
    some, text = sorted(some), []
    for byte in some:
        if text and text[-1][1] == byte:
            text[-1][1] += 1
        else:
            text.append([byte, byte + 1])
    return " ".join(f"{start}..{stop - 1}" for start, stop in text[:12])


def far_from(some, others):
    return {byte for byte in some if not any(b in others for b in range(byte - VECTOR + 1, byte + VECTOR))}


problems = 0


def complain(name, what, some):
    global problems
    some = {byte for byte in some if byte not in KNOWN.get((name, what), ())}
    if some:
        problems += 1
        print(f"{name}: {what}: {len(some)} bytes: {ranges(some)}")


def compare_compiled(stepped, compiled):
    assert stepped.names == compiled.names
    n_read = n_written = 0
    for name, ours, theirs in zip(stepped.names, stepped.sections, compiled.sections):
        read, written = stepped.offsets(ours.read()), stepped.offsets(ours.written())
        their_read, their_written = compiled.offsets(theirs.read()), compiled.offsets(theirs.written())
        n_read, n_written = n_read + len(read), n_written + len(written)
        complain(name, "written only in the compiled mode", their_written - written)
        complain(name, "written only by steps", written - their_written)
        complain(name, "read only in the compiled mode", their_read - read)
        complain(name, "read only by steps", far_from(read - their_read, their_read))
    print(f"{len(stepped.names)} sections, {n_read} bytes read, {n_written} written: as in the compiled mode")


def compare_lackey(stepped, trace):
    found = lackey_sections(trace, stepped.base, stepped.size)
    assert len(found) == len(stepped.names), (len(found), len(stepped.names))
    for name, ours, (their_read, their_written) in zip(stepped.names, stepped.sections, found):
        read, written = stepped.offsets(ours.read()), stepped.offsets(ours.written())
        complain(name, "written, not by lackey", written - their_written)
        complain(name, "not written, by lackey", their_written - written)
        complain(name, "read, not by lackey", far_from(read - their_read, their_read))
        complain(name, "not read, by lackey", far_from(their_read - read, read))
    print(f"{len(stepped.names)} sections as lackey says")


ours = Run(sys.argv[1], sys.argv[2], 4)
compare_lackey(ours, sys.argv[3])
if sys.argv[4:]:
    compare_compiled(ours, Run(sys.argv[4], sys.argv[5], 0))
sys.exit(problems > 0)
