#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""damage.py SEED: overwrites random bytes in the files of children of fork in gprof-mt.data, those of packs and those
of places, and cuts some of the latter."""
import glob
import os
import random
import sys

HEADER, PLACE = 4096, 8192  # bytes of a file of places


def in_pack(size):
    return random.randrange(size)


def in_places(size):
    """Mostly in the headers of the file and of its places."""
    base = random.choice((0, HEADER + PLACE * random.randrange((size - HEADER) // PLACE)))
    return base + random.randrange(random.choice((32, 64, 280, 600, 4500)))


def overwrite(path, position):
    with open(path, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        for _ in range(random.choice((1, 8, 64))):
            file.seek(position(size))
            file.write(random.choice((b"\0", b"\xff" * 4, bytes([random.randrange(256)]))))
    return size


random.seed(int(sys.argv[1]))
packs = glob.glob("gprof-mt.data/*/packed.*/table") + glob.glob("gprof-mt.data/*/packed.*/user/stream_*")
places = glob.glob("gprof-mt.data/*/children.*")
if not packs + places:
    sys.exit("no files of children")
for pack in sorted(packs):
    overwrite(pack, in_pack)
for file_of_places in sorted(places):
    n_bytes = overwrite(file_of_places, in_places)
    if random.random() < 0.2:
        os.truncate(file_of_places, random.randrange(n_bytes))
