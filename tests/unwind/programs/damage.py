#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""damage.py FILE OUT KIND NUMBER: copies a program or library with damaged unwind tables.

At random: "frames" and "header" replace one byte in 16 of .eh_frame or .eh_frame_hdr, by a generator that starts with
NUMBER.  The others do one thing, where nothing else is said to all entries; KINDS lists them, with NUMBER as their
parameter."""
import os
import random
import struct
import subprocess
import sys

PT_NULL, PT_GNU_EH_FRAME = 0, 0x6474e550


class File:
    """A file, and where its unwind tables are in it.  Entries of .eh_frame: position, size, and whether it is a CIE;
    the list in .eh_frame_hdr: pairs of (code, FDE), relative to the header's begin."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = bytearray(file.read())
        text = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True, check=True).stdout
        self.sections = {}
        for line in text.splitlines():
            words = line.replace("[ ", "[").split()
            if len(words) > 5 and words[1] in (".eh_frame", ".eh_frame_hdr"):
                self.sections[words[1]] = int(words[4], 16), int(words[5], 16)
        self.start, self.size = self.sections[".eh_frame"]
        self.header, self.header_size = self.sections[".eh_frame_hdr"]

    def put(self, at, kind, *values):
        struct.pack_into("<" + kind, self.data, at, *values)

    def get(self, at, kind):
        return struct.unpack_from("<" + kind, self.data, at)[0]

    def fill(self, start, size, byte):
        self.data[start:start + size] = bytes([byte]) * size

    def entries(self):
        at = self.start
        while at + 8 <= self.start + self.size and (size := self.get(at, "I")) != 0:
            yield at, size, self.get(at + 4, "I") == 0
            at += 4 + size

    def cies(self):
        return [(at, size) for at, size, is_cie in self.entries() if is_cie]

    def fdes(self):
        return [(at, size) for at, size, is_cie in self.entries() if not is_cie]

    def list_entries(self):
        return range(self.header + 12, self.header + self.header_size - 7, 8)

    def randomly(self, start, size, number):
        generator = random.Random(number)
        for _ in range(size // 16):
            self.data[start + generator.randrange(size)] = generator.randrange(256)

    def code_of_fdes(self, code):
        """Replaces the instructions of all FDEs, which follow two pointers of 4 bytes and an augmentation of 0 bytes,
        by repetitions of this."""
        for at, size in self.fdes():
            if (room := size - 13) >= len(code):
                code_and_nops = (code * room)[:room - room % len(code)].ljust(room, b"\0")
                self.data[at + 17:at + 17 + room] = code_and_nops

    def segment(self, kind):
        """Returns the position of the program header of this kind."""
        start, size, n = self.get(0x20, "Q"), self.get(0x36, "H"), self.get(0x38, "H")
        return next(at for at in range(start, start + size * n, size) if self.get(at, "I") == kind)


def each(file, entries, function):
    for at, size in entries:
        function(file, at, size)


KINDS = {
    "frames": lambda f, n: f.randomly(f.start, f.size, n),
    "header": lambda f, n: f.randomly(f.header, f.header_size, n),
    "zeros": lambda f, n: f.fill(f.start, f.size, 0),
    "ones": lambda f, n: f.fill(f.start, f.size, 0xff),
    # .eh_frame_hdr
    "offsets": lambda f, n: [f.put(at + 4, "i", n) for at in f.list_entries()],
    "codes": lambda f, n: [f.put(at, "i", n) for at in f.list_entries()],
    "count": lambda f, n: f.put(f.header + 8, "I", n),
    "version": lambda f, n: f.put(f.header, "B", n),
    "list_encoding": lambda f, n: f.put(f.header + 3, "B", n),
    "reversed": lambda f, n: [f.put(at, "ii", *pair) for at, pair in zip(
        f.list_entries(), [struct.unpack_from("<ii", f.data, at) for at in f.list_entries()][::-1])],
    # the program header that leads there
    "missing": lambda f, n: f.put(f.segment(PT_GNU_EH_FRAME), "I", PT_NULL),
    "outside": lambda f, n: f.put(f.segment(PT_GNU_EH_FRAME) + 16, "Q", n),
    # CIEs and FDEs
    "cie_of_itself": lambda f, n: each(f, f.fdes(), lambda f, at, size: f.put(at + 4, "I", 4)),
    "cie_is_fde": lambda f, n: each(f, f.cies(), lambda f, at, size: f.put(at + 4, "I", 4)),
    "cie_outside": lambda f, n: each(f, f.fdes(), lambda f, at, size: f.put(at + 4, "i", n)),
    "cie_sizes": lambda f, n: each(f, f.cies(), lambda f, at, size: f.put(at, "I", n & 0xffffffff)),
    "fde_sizes": lambda f, n: each(f, f.fdes(), lambda f, at, size: f.put(at, "I", n & 0xffffffff)),
    "fde_large_sizes": lambda f, n: each(f, f.fdes(), lambda f, at, size: f.put(at, "IQ", 0xffffffff, n)),
    "cie_names": lambda f, n: each(f, f.cies(), lambda f, at, size: f.fill(at + 9, size - 5, 0x7a)),
    "augmentation": lambda f, n: each(f, f.cies(), lambda f, at, size: f.put(
        f.data.index(b"\0", at + 9) + 4, "B", n)),
    "fde_augmentation": lambda f, n: each(f, f.fdes(), lambda f, at, size: f.put(at + 16, "5B", *[0xff] * 4, n)),
    "ranges": lambda f, n: each(f, f.fdes(), lambda f, at, size: f.put(at + 12, "i", n)),
    "starts": lambda f, n: each(f, f.fdes(), lambda f, at, size: f.put(at + 8, "i", n)),
    # instructions
    "remember": lambda f, n: f.code_of_fdes(b"\x0a"),
    "restore": lambda f, n: f.code_of_fdes(b"\x0b"),
    "unknown": lambda f, n: f.code_of_fdes(b"\x3f"),
    "cfa_register": lambda f, n: f.code_of_fdes(bytes([0x0d, n])),
    "cfa_offset": lambda f, n: f.code_of_fdes(b"\x0c\x07" + bytes([n & 0x7f | 0x80, n >> 7 & 0x7f | 0x80, n >> 14])),
    # DW_CFA_def_cfa_expression: DW_OP_skip -3; a length beyond the entry
    "expression_loops": lambda f, n: f.code_of_fdes(b"\x0f\x03\x2f\xfd\xff"),
    "expression_long": lambda f, n: f.code_of_fdes(b"\x0f\xff\xff\xff\x7f"),
}


def main():
    path, out, kind, number = sys.argv[1:]
    file = File(path)
    KINDS[kind](file, int(number))
    with open(out, "wb") as to:
        to.write(file.data)
    os.chmod(out, 0o755)


if __name__ == "__main__":
    main()
