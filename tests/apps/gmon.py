# SPDX-License-Identifier: MIT
"""Reads gmon files, glibc's and ours, with nm as the only tool.

glibc's files have run-time addresses, and name a call site by its block of 16 bytes (HASHFRACTION in
sys/gmon.h); ours have link-time addresses, and a byte of the call instruction.  Neither has callers outside
the program: glibc drops these calls, our runtime attributes them to _start."""
import struct
import subprocess
from bisect import bisect_right
from collections import Counter

SITE_BYTES = 16
PAGE = 4096


class Program:
    def __init__(self, path):
        text = subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True,
                              check=True).stdout
        at = {}
        for line in text.splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "tTwWiuV":
                at.setdefault(int(words[0], 16), []).append(words[2])
        self.entry = next(address for address, names in at.items() if "_start" in names)
        self.addresses = sorted(at)
        self.names = {}
        for names in at.values():
            self.join(names)
        self.at = {address: self.alias(names[0]) for address, names in at.items()}

    def join(self, names):
        """Treats all names of an address as one function, and all addresses of a name as one function."""
        first = self.alias(names[0])
        for name in names:
            self.names[self.alias(name)] = first

    def alias(self, name):
        while self.names.get(name, name) != name:
            name = self.names[name]
        return name

    def function(self, address):
        i = bisect_right(self.addresses, address)
        return self.alias(self.at[self.addresses[i - 1]]) if i else "?"


def read(path):
    """Returns (low, high, [(from, self, count)])."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:4] != b"gmon":
        raise ValueError(f"{path}: expected a file that begins with gmon, found {data[:4]!r}")
    low = high = None
    arcs, at = [], 20
    while at < len(data):
        tag, at = data[at], at + 1
        if tag == 0:
            low, high, bins = struct.unpack_from("<2QI", data, at)
            at += 40 + 2 * bins
        elif tag == 1:
            arcs.append(struct.unpack_from("<2QI", data, at))
            at += 20
        else:
            raise ValueError(f"{path}: expected tag 0 or 1, found {tag} at {at}")
    return low, high, arcs


class Arcs:
    def __init__(self, program, low, high):
        self.program, self.low, self.high = program, low, high
        self.arcs = Counter()  # by block of the call site and address of the function, which both formats have
        self.by_name = Counter()  # by caller and function
        self.calls = Counter()  # by function, including calls from outside the program

    def site(self, address):
        return (address - self.low) // SITE_BYTES

    def differences(self, other):
        keys = [k for k in self.arcs.keys() | other.arcs.keys() if self.arcs[k] != other.arcs[k]]
        name = self.program.function
        return f"{len(keys)} arcs: " + ", ".join(
            f"{name(self.low + site * SITE_BYTES)} -> {name(to)}: found {self.arcs[site, to]}, "
            f"expected {other.arcs[site, to]}" for site, to in sorted(keys)[:5])

    def differences_by_name(self, other):
        keys = {k for k in self.by_name.keys() | other.by_name.keys()
                if self.by_name[k] != other.by_name[k]}
        return f"{len(keys)} arcs: " + ", ".join(
            f"{a} -> {b}: found {self.by_name[a, b]}, expected {other.by_name[a, b]}"
            for a, b in sorted(keys)[:5])


def glibc_arcs(program, path):
    low, high, arcs = read(path)
    # glibc's text range begins with the file. If low is an address in the file, the program is not PIE.
    base = 0 if low <= program.entry else low - low % PAGE
    found = Arcs(program, low - base, high - base)
    for source, to, count in arcs:
        found.arcs[found.site(source - base), to - base] += count
    return found


def our_arcs(program, path, low=0, high=1 << 62):
    """low and high: glibc's, so that call sites fall into the same blocks as glibc's."""
    found = Arcs(program, low, high)
    for source, to, count in read(path)[2]:
        found.calls[program.function(to)] += count
        if source != program.entry:
            found.arcs[found.site(source + 1), to] += count
            found.by_name[program.function(source), program.function(to)] += count
    return found
