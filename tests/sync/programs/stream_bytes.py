#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""stream_bytes.py CAPTURE: prints the number of bytes that the events in its streams take."""
import glob
import os
import struct
import sys

HEAD_BYTES = 72


def main():
    n = 0
    for path in glob.glob(os.path.join(sys.argv[1], "*", "user", "stream_*")):
        data = open(path, "rb").read()
        offset = 0
        while offset + HEAD_BYTES <= len(data):
            content, size = struct.unpack_from("<32xQQ", data, offset)
            n += content // 8 - HEAD_BYTES
            offset += size // 8
    print(n)


main()
