#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""losses.py CAPTURE CALLS: checks that the recorded calls of `leaf` and the lost calls of a capture add up to
CALLS.  Prints both, and the number of lost synch-events of all processes and threads."""
import glob
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.environ["GM_TOP"], "tests/gmon/programs"))
import calls  # noqa: E402


def events_lost(folder):
    data = open(os.path.join(folder, "threads"), "rb").read()
    header, slot, n = struct.unpack_from("<12xIII", data)
    return struct.unpack_from("<64xQ", data)[0] + sum(
        struct.unpack_from("<56xQ", data, header + slot * i)[0] for i in range(n))


def main():
    counted = lost = events = 0
    for path in glob.glob(os.path.join(sys.argv[1], "*", "threads")):
        folder = os.path.dirname(path)
        lost += calls.lost(folder)
        events += events_lost(folder)
        if not os.path.exists(os.path.join(folder, "calls")):
            continue
        maps = calls.Maps(folder)
        counted += sum(n for _, _, target, n in calls.arcs(os.path.join(folder, "calls"))
                       if maps.name(target) == "leaf")
    print(counted, lost, events)
    sys.exit(counted + lost != int(sys.argv[2]))


main()
