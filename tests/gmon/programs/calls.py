#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""calls.py FOLDER [INDEX]: prints the counts in the calls file of a capture's <pid> folder.

One line per thread and function: INDEX FUNCTION CALLS, sorted. --arcs: INDEX CALLER FUNCTION CALLS.
--threads: INDEX TID of each thread with a table. --lost: number of calls that no file has, by the thread
table. --slots: number of threads in that table. --samples: samples instead of calls. Written from format.h,
with only nm, as a witness beside gprof."""
import os
import struct
import subprocess
import sys
from bisect import bisect_right
from collections import Counter
from functools import cache

SAMPLES = 4


@cache
def symbols(path):
    table = {}
    text = subprocess.run(["nm", "--defined-only", path], capture_output=True, text=True).stdout
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in "tTwWi":
            table.setdefault(int(words[0], 16), words[2])
    return sorted(table), table


class Maps:
    def __init__(self, folder):
        self.objects, self.tables = [], {}
        for line in open(os.path.join(folder, "maps")):
            _, kind, start, end, bias, _, path = line.rstrip("\n").split(" ", 6)
            assert kind == "load", line
            self.objects.append((int(start, 16), int(end, 16), int(bias, 16), path))

    def name(self, address):
        for start, end, bias, path in reversed(self.objects):
            if start <= address < end:
                if path not in self.tables:
                    self.tables[path] = symbols(path)
                addresses, table = self.tables[path]
                at = bisect_right(addresses, address - bias)
                return table[addresses[at - 1]] if at else os.path.basename(path)
        return "?"


def tables(path):
    """(index, tid, dense, [(from, self, count)]) of each table of the file."""
    data, at = open(path, "rb").read(), 0
    while at < len(data) and data[at:at + 64] != bytes(64):
        magic, schema, header, slot, n, index, tid, chunk, _, flags = struct.unpack_from(
            "<8s6I2QI", data, at)
        assert schema == 1 and chunk >= 64 and chunk % 64 == 0, f"{path} at {at}"
        if magic == b"GMTCALLS":
            assert header + slot * n <= chunk <= len(data) - at, f"{path} at {at}"
            arcs = (struct.unpack_from("<3Q", data, at + header + slot * i) for i in range(n))
            if bool(flags & SAMPLES) == ("--samples" in sys.argv):
                yield index, tid, flags & 1, [arc for arc in arcs if arc[1]]
        else:
            assert magic == b"GMTFREE!", f"{path} at {at}: {magic}"
        at += chunk


def arcs(path):
    found = list(tables(path))
    dense = {index for index, _, is_dense, _ in found if is_dense}
    for index, _, is_dense, of_table in found:
        if is_dense or index not in dense:
            for source, target, count in of_table:
                yield index, source, target, count


def lost(folder):
    data = open(os.path.join(folder, "threads"), "rb").read()
    header, slot, n = struct.unpack_from("<12xIII", data)
    return struct.unpack_from("<56xQ", data)[0] + sum(
        struct.unpack_from("<48xQ", data, header + slot * i)[0] for i in range(n))


def main():
    by_arc = "--arcs" in sys.argv
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    if "--lost" in sys.argv:
        print(lost(words[0]))
        return
    if "--slots" in sys.argv:
        print(struct.unpack_from("<20xI", open(os.path.join(words[0], "threads"), "rb").read())[0])
        return
    folder, maps, sums = words[0], Maps(words[0]), Counter()
    path = os.path.join(folder, "calls")
    if "--threads" in sys.argv:
        for index, tid in sorted({table[:2] for table in tables(path)}):
            print(index, tid)
        return
    for index, source, target, count in arcs(path) if os.path.exists(path) else ():
        if len(words) > 1 and index != int(words[1]):
            continue
        caller = (maps.name(source - 1),) if by_arc else ()
        sums[(index, *caller, maps.name(target))] += count
    for key, count in sorted(sums.items()):
        if count:
            print(*key, count)


if __name__ == "__main__":
    main()
