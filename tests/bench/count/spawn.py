#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""spawn.py RUNS NAME=COMMAND...: what each command takes from its start to its end, in milliseconds:
NAME WALL CPU, the best of RUNS of each.  They take turns, each in a directory without old profiles."""
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
                sys.exit(f"{command}: status {status}")
            wall[name] = min(wall.get(name, took), took)
            used = usage.ru_utime + usage.ru_stime
            cpu[name] = min(cpu.get(name, used), used)
    for name, _ in peers:
        print(name, f"{wall[name] * 1e3:.3f} {cpu[name] * 1e3:.3f}")


main()
