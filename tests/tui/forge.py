#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""forge.py FOLDER HOW [NUMBER]: changes a kept index, so that its head still fits what it says.

rename        the threads are called wOrker, so that who shows that has used the index
scramble N    other bytes in all files but the head, by the seed N
head N        the head's byte N is another
cut, longer NAME, missing NAME, fifo NAME, link NAME     a file is not what the head says
more NAME     the head tells of twice the items, and its digest is right
late          it ends before it begins, and its digest is right
old           another version, and its digest is right, with a file that this one has not"""
import hashlib
import os
import random
import struct
import sys

NAMES = ["operations", "more", "sites", "paths", "addresses", "processes", "threads", "objects", "endless",
         "samples", "calls", "edges", "text", "damage", "lanes", "steps", "strides", "thread-runs", "thread-wait-runs",
         "object-runs", "object-wait-runs", "thread-items", "thread-wait-items", "object-items", "object-wait-items"]
NUMBERS_AT = 24
TIMES_AT = NUMBERS_AT + 8 * len(NAMES) + 4 * len(NAMES) + 4


def change(path, at, data):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(data)


def forge_head(path, at, data):
    with open(path, "rb") as file:
        head = bytearray(file.read())
    head[at:at + len(data)] = data
    head[-32:] = hashlib.sha256(head[:-32]).digest()
    change(path, 0, bytes(head))


def scramble(folder, seed):
    numbers = random.Random(seed)
    for name in NAMES:
        path = os.path.join(folder, name)
        n = os.path.getsize(path)
        # Small numbers too: these are valid positions.
        data = numbers.randbytes(n) if seed % 2 else bytes(
            byte if i % 4 < 2 else 0 for i, byte in enumerate(numbers.randbytes(min(n, 1 << 16))))
        change(path, 0, (data * (n // max(len(data), 1) + 1))[:n])


def main(folder, how, what="0"):
    head = os.path.join(folder, "head")
    path = os.path.join(folder, what)
    if how == "rename":
        text = open(os.path.join(folder, "text"), "rb").read()
        change(os.path.join(folder, "text"), 0, text.replace(b"worker", b"wOrker"))
    elif how == "scramble":
        scramble(folder, int(what))
    elif how == "head":
        data = open(head, "rb").read()
        change(head, int(what), bytes([data[int(what)] ^ 0x40]))
    elif how == "cut":
        os.truncate(path, os.path.getsize(path) - 1)
    elif how == "longer":
        os.truncate(path, os.path.getsize(path) + 4096)
    elif how in ("missing", "fifo", "link"):
        os.rename(path, folder + ".aside")
        if how == "fifo":
            os.mkfifo(path)
        elif how == "link":
            os.symlink(os.path.abspath(folder + ".aside"), path)
    elif how == "more":
        at = NUMBERS_AT + 8 * NAMES.index(what)
        n, = struct.unpack_from("<Q", open(head, "rb").read(), at)
        forge_head(head, at, struct.pack("<Q", 2 * n + 1))
    elif how == "late":
        forge_head(head, TIMES_AT, struct.pack("<qq", 2, 1))
    elif how == "old":
        forge_head(head, 16, struct.pack("<I", 0))
        open(os.path.join(folder, "of-another-version"), "w").close()
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
