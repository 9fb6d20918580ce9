#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py OUT CAPTURE TRACE [OUT_COMPILED CAPTURE_COMPILED]: compares the sections of a program of access/exact that
were stepped (OUT: the output of that run) with the accesses that valgrind's lackey saw (TRACE, on the same binary), and
with the same sections of the compiled mode.

Against lackey, both sets of bytes are equal, but for the functions of libc, which are others under valgrind if the CPU
has vectors that valgrind does not know: reads of bytes within 63 of others.

Against the compiled mode, the differences are:
- libc's functions and copies of strings read whole vectors: up to 63 bytes beside those of the compiled mode;
- libc's qsort() moves the elements: seen by steps only;
- KNOWN: what hooks say otherwise than the code does, and what the compiler keeps in registers without hooks;
- UNITS: bytes in a unit of which the other mode has a byte, too (access/lackey.py says why);
- code that was not compiled with -fsanitize=thread, as libstdc++, is seen by steps only (C++ is compared with lackey
  alone)."""
import sys

from sections import Complaints, Region, far_from, recorded_sections, traced_sections

STEPPED = 4

# By section and difference: offsets in the region.
KNOWN = {
    # A long double is 16 bytes to gcc, of which the processor stores 10.
    ("scalars", "written only in the compiled mode"): range(122, 128),
    # gcc's code for bit-fields writes fewer bytes of the containing integer than its hooks say, and reads more.
    ("bit_fields", "written only in the compiled mode"): range(517, 520),
    ("bit_fields", "read only by steps"): range(525, 528),
    # Without hooks, gcc keeps what was just stored in a register; and reads less of what it then makes narrower.
    ("structures", "read only in the compiled mode"): range(2196, 2200),
    ("flexible_arrays", "read only in the compiled mode"): [*range(1024, 1028), 1071],
}
UNITS = {(name, "written only in the compiled mode"): 4 for name in ("bit_hits", "bit_deletions")}


def compare_compiled(stepped, recorded, compiled, problems):
    n_read = n_written = 0
    for name, ours, theirs in zip(stepped.names, recorded, compiled):
        read, written = ours.read["program"], ours.written["program"]
        their_read, their_written = theirs.read["program"], theirs.written["program"]
        n_read, n_written = n_read + len(read), n_written + len(written)
        problems.complain((name, "written only in the compiled mode"), their_written, written)
        if name != "sort_by_libc":
            problems.complain((name, "written only by steps"), written, their_written)
        problems.complain((name, "read only in the compiled mode"), their_read, read)
        problems.complain((name, "read only by steps"), far_from(read, their_read), their_read)
    print(f"{len(stepped.names)} sections, {n_read} bytes read, {n_written} written: as in the compiled mode")


def compare_lackey(stepped, recorded, traced, problems):
    for name, ours, theirs in zip(stepped.names, recorded, traced):
        read, written = ours.read["program"], ours.written["program"]
        their_read, their_written = theirs.read["program"], theirs.written["program"]
        problems.complain((name, "written, not by lackey"), written, their_written)
        problems.complain((name, "not written, by lackey"), their_written, written)
        problems.complain((name, "read, not by lackey"), far_from(read, their_read), their_read)
        problems.complain((name, "not read, by lackey"), far_from(their_read, read), read)
    print(f"{len(stepped.names)} sections as lackey says")


stepped, found = Region(sys.argv[1]), Complaints(KNOWN, UNITS)
recorded = recorded_sections(sys.argv[2], stepped, STEPPED)
compare_lackey(stepped, recorded, traced_sections(sys.argv[3], stepped), found)
if sys.argv[4:]:
    other = Region(sys.argv[4])
    assert stepped.names == other.names
    compare_compiled(stepped, recorded, recorded_sections(sys.argv[5], other, 0), found)
sys.exit(found.n > 0)
