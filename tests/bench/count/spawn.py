#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""spawn.py RUNS NAME=COMMAND...: measures each command from its start to its end.  Prints a line NAME WALL
CPU for each, in milliseconds, with the minimum of RUNS runs.  The commands alternate, and old profiles are
removed before each run."""
import os
import shutil
import sys
import time


def clean():
    for name in os.listdir("."):
        if name.startswith("gprof-mt.data"):
            shutil.rmtree(name)
        elif name.startswith("gmon.out"):
            os.unlink(name)


def main():
    runs = int(sys.argv[1])
    peers = [word.split("=", 1) for word in sys.argv[2:]]
    wall, cpu = {}, {}
    for _ in range(runs):
        for name, command in peers:
            words, environment = command.split(), dict(os.environ)
            while "=" in words[0]:
                key, value = words.pop(0).split("=", 1)
                environment[key] = value
            clean()
            start = time.perf_counter()
            pid = os.posix_spawn(words[0], words, environment)
            _, status, usage = os.wait4(pid, 0)
            took = time.perf_counter() - start
            if status != 0:
                sys.exit(f"{command}: expected wait status 0, got {status}")
            wall[name] = min(wall.get(name, took), took)
            used = usage.ru_utime + usage.ru_stime
            cpu[name] = min(cpu.get(name, used), used)
    for name, _ in peers:
        print(name, f"{wall[name] * 1e3:.3f} {cpu[name] * 1e3:.3f}")


main()
