# SPDX-License-Identifier: MIT
"""The Open POSIX Test Suite (Debian's posixtestsuite): some 1,600 programs, each of which tests one assertion."""
import glob
import os

from building import CC, compile_all, matches

# These set the machine's clock, exhaust its processes, or occupy its CPUs with a real-time priority.
LEFT_OUT = ("clock_settime.*", "fork.11-1", "pthread_create.stress*", "*sched_*", "pthread_setschedparam.*",
            "pthread_setschedprio.*", "*setschedpolicy*", "mlockall.*")

FLAGS = ["-O1", "-w", "-D_GNU_SOURCE"]


def build(source, _, binaries, flags):
    """Builds all programs, named FUNCTION.ASSERTION; returns for each whether it was built."""
    interfaces = os.path.join(source, "conformance", "interfaces")
    commands = []
    for file in sorted(glob.glob(os.path.join(interfaces, "*", "**", "*.c"), recursive=True)):
        with open(file, encoding="latin-1") as text:
            if "main" not in text.read():
                continue
        name = os.path.relpath(file, interfaces)[:-2].replace(os.sep, ".")
        if matches(name, LEFT_OUT):
            continue
        commands.append([CC, *FLAGS, "-I", os.path.join(source, "include"), "-I", os.path.dirname(file),
                         file, "-o", os.path.join(binaries, name), *flags, "-lpthread", "-lrt", "-lm"])
    return compile_all(commands)
