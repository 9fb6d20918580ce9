# SPDX-License-Identifier: MIT
"""Shared code that builds the programs of a suite."""
import concurrent.futures
import fnmatch
import os
import subprocess

CC = os.environ.get("CC", "gcc")


def matches(name, patterns):
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def compile_all(commands):
    """Runs the commands in parallel; returns for each whether it succeeded."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(lambda command: subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            check=False).returncode == 0, commands))
