# SPDX-License-Identifier: MIT
"""The sections of the programs in access/exact: as recorded in a capture, and as valgrind's lackey saw them. Both are
sets of bytes of the program's region, as offsets in region.bytes. Other memory is not compared, which excludes the
stack, and the insides of libc, of the loader, and of the libraries that are measured."""
import collections
import glob

from segments import segments_of

VECTOR = 64
HEAD = 64  # region.begin and region.end


class Region:
    """The output of a program: the names of its sections, and where its region is."""

    def __init__(self, out):
        *self.names, last = open(out).read().splitlines()
        self.base, self.size = (int(word, 0) for word in last.split())

    def offsets(self, some):
        return {byte - self.base - HEAD for byte in some if self.base <= byte < self.base + self.size}


class Section:
    """Bytes read and written, by the kind of the object whose instructions did that."""

    def __init__(self):
        self.read, self.written = collections.defaultdict(set), collections.defaultdict(set)


def recorded_sections(capture, region, flags):
    """Each from the segment that writes region.begin to the one that writes region.end."""
    segments = segments_of(glob.glob(capture + "/[0-9]*/accesses")[0])
    found, section = [], None
    for segment in segments:
        written = segment.written()
        if region.base in written:
            assert section is None, "a section in a section"
            section = Section()
            found.append(section)
        if section is None:
            continue
        assert segment.flags == flags, (region.names[len(found) - 1], segment.flags)
        section.read["program"] |= region.offsets(segment.read())
        section.written["program"] |= region.offsets(written)
        if region.base + 8 in written:
            section = None
    assert section is None and len(found) == len(region.names), (capture, len(found), len(region.names))
    return found


def traced_sections(trace, region, kind_of=lambda instruction: "program"):
    """From lackey's TRACE. kind_of tells to whom an instruction belongs."""
    found, section, instruction = [], None, ""
    for line in open(trace, errors="replace"):
        if line.startswith("I "):
            instruction = line
            continue
        if line[:3] not in (" L ", " S ", " M "):
            continue
        address, n = line[3:].split(",")
        address, n = int(address, 16), int(n)
        if address + n <= region.base or address >= region.base + region.size:
            continue
        if address == region.base and line[1] == "S":
            section = Section()
            found.append(section)
        if section is None:
            continue
        kind = kind_of(int(instruction[3:].split(",")[0], 16))
        touched = region.offsets(range(address, address + n))
        if line[1] in "LM":
            section.read[kind] |= touched
        if line[1] in "SM":
            section.written[kind] |= touched
        if address == region.base + 8 and line[1] == "S":
            section = None
    assert len(found) == len(region.names), (trace, len(found), len(region.names))
    return found


def far_from(some, others):
    """Those that are not within a vector of one of the others."""
    return {byte for byte in some if not any(b in others for b in range(byte - VECTOR + 1, byte + VECTOR))}


class Complaints:
    """Differences that are not known. known: offsets by (section, difference, ...). units: bytes of the aligned units
    in which a difference does not count, if the other side has a byte of the unit, too; by the same."""

    def __init__(self, known, units):
        self.known, self.units, self.n = known, units, 0

    def complain(self, key, some, others):
        unit = self.units.get(key, 1)
        units = {byte // unit for byte in others}
        some = {byte for byte in some - others if byte // unit not in units} - set(self.known.get(key, ()))
        if some:
            self.n += 1
            print(f"{key[0]}: {key[1]}: {len(some)} bytes: {ranges(some)}")


def ranges(some):
    some, text = sorted(some), []
    for byte in some:
        if text and text[-1][1] == byte:
            text[-1][1] += 1
        else:
            text.append([byte, byte + 1])
    return " ".join(f"{start}..{stop - 1}" for start, stop in text[:12])
