#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""locks.py CAPTURE: prints the number of mutex_lock events in the streams of a capture, without the
use of gprof-mt."""
import glob
import os
import re
import struct
import sys

SIZES = {"uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "uint64_t": 8, "address_t": 8}
HEAD_BYTES, EXTENDED = 72, 255


def classes(metadata):
    found = {}
    text = open(metadata, encoding="utf-8").read()
    for name, number, fields in re.findall(
            r'name = "(\w+)";\s*id = (\d+);\s*stream_id = 0;\s*fields := struct \{(.*?)\};', text):
        found[int(number)] = name, sum(SIZES[t] for t in re.findall(r"(\w+) \w+;", fields))
    return found


def count(data, events):
    offset = n = 0
    while offset + HEAD_BYTES <= len(data):
        content, size = struct.unpack_from("<32xQQ", data, offset)
        at, end = offset + HEAD_BYTES, offset + content // 8
        while at < end:
            extended = data[at] == EXTENDED
            name, n_bytes = events[data[at + 1] if extended else data[at]]
            at += 10 if extended else 5
            n += name == "mutex_lock"
            at += n_bytes
        offset += size // 8
    return n


def main():
    n = 0
    packs = glob.glob(os.path.join(sys.argv[1], "*", "packed.*", "user"))
    for folder in glob.glob(os.path.join(sys.argv[1], "*", "user")) + packs:
        events = classes(os.path.join(folder, "metadata"))
        for path in glob.glob(os.path.join(folder, "stream_*")):
            n += count(open(path, "rb").read(), events)
    print(n)


main()
