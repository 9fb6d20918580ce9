#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""damage.py PROGRAM OUT KIND NUMBER: copies a program with damaged unwind tables.

KIND: "frames" and "header" replace one byte in 16 of .eh_frame or .eh_frame_hdr, by a generator that starts with
NUMBER; "zeros" and "ones" replace all bytes of .eh_frame; "offsets" replaces the positions in .eh_frame_hdr by
NUMBER."""
import os
import random
import struct
import subprocess
import sys

program, out, kind, number = sys.argv[1:]
data = bytearray(open(program, "rb").read())
sections = {}
for line in subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout.splitlines():
    words = line.replace("[ ", "[").split()
    if len(words) > 5 and words[1] in (".eh_frame", ".eh_frame_hdr"):
        sections[words[1]] = int(words[4], 16), int(words[5], 16)
start, size = sections[".eh_frame" if kind in ("frames", "zeros", "ones") else ".eh_frame_hdr"]
generator = random.Random(int(number))
if kind in ("frames", "header"):
    for _ in range(size // 16):
        data[start + generator.randrange(size)] = generator.randrange(256)
elif kind in ("zeros", "ones"):
    data[start:start + size] = bytes([0 if kind == "zeros" else 0xff]) * size
else:
    for at in range(start + 12, start + size - 7, 8):
        struct.pack_into("<i", data, at + 4, int(number))
with open(out, "wb") as file:
    file.write(data)
os.chmod(out, 0o755)
