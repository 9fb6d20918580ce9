#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""packets.py CAPTURE: checks that each packet of synch-events is complete: it has the size in its header, and
its content is not larger."""
import glob
import os
import struct
import sys

n = 0
for path in glob.glob(os.path.join(sys.argv[1], "*", "user", "stream_*")):
    data, at = open(path, "rb").read(), 0
    while at < len(data):
        content, packet = struct.unpack_from("<32xQQ", data, at)
        if content > packet or packet % 64 != 0 or at + packet // 8 > len(data) or packet == 0:
            sys.exit(f"{path} at {at}: content of {content} bits, packet of {packet} bits")
        at += packet // 8
        n += 1
if n == 0:
    sys.exit("no packets")
