#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""filler.py FILE SEED: fills the disk of FILE and frees space again, in random steps and at random
instants, until it is killed or another process removes FILE."""
import os
import random
import sys


def main():
    file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
    random.seed(int(sys.argv[2]))
    end = 0
    while os.fstat(file).st_nlink > 0:
        if random.random() < 0.7:
            try:
                end += os.pwrite(file, bytes(random.randrange(4096, 131072)), end)
            except OSError:
                pass
        else:
            end = random.randrange(end // 2, end + 1)
            os.ftruncate(file, end)
        for _ in range(random.randrange(20000)):
            pass


main()
