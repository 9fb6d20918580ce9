#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/conformance/check.py BUILD [GLOB...]: runs the programs of conformance suites for threads,
signals, processes and time in POSIX and C11, bare and profiled.  A program must end with the same
status bare and profiled, whatever the status is, in one of three pairs of runs.  A program that
also ends bare with the status that differs, in one of a few more runs, is skipped: its status
depends on time.

GLOB selects by SUITE/NAME: glibc/tst-*, posix/pthread_*.  Programs that do not end bare on this
machine are skipped; the last line is "N passed, N failed, N skipped"."""
import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

import glibc
import posix_suite
from building import matches

JOBS = 3 * (os.cpu_count() or 1)  # most of the programs sleep most of their time
LIMIT_S = 150
ATTEMPTS = 3  # of a program whose verdict differs
MORE_BARE = 12
COUNTED = "bin-pg"


def libraries(build_dir):
    return ":".join(os.path.join(build_dir, name) for name in ("libgmon_mt.so", "libsync_trace.so"))


class Way:
    """A way to run a program: a command before it, variables, and a configuration."""

    def __init__(self, name, prefix=(), preload="", config="", binaries="bin"):
        self.name, self.prefix, self.preload, self.config = name, list(prefix), preload, config
        self.binaries = binaries

    def run(self, program):
        """Returns the exit status (negative: a signal) or "limit", and the end of the output."""
        program = os.path.join(program[0], self.binaries, program[1])
        env = {key: value for key, value in os.environ.items()
               if key not in ("LD_PRELOAD", "GPROF_MT_CONFIG", "GMON_OUT_PREFIX")}
        if self.preload:
            env["LD_PRELOAD"] = self.preload
        # A program may leave processes behind that write to the directory while it is removed.
        with tempfile.TemporaryDirectory(prefix="gprof-mt-conformance.", ignore_cleanup_errors=True) as directory:
            if self.config:
                with open(os.path.join(directory, "gprof-mt.conf"), "w", encoding="utf-8") as file:
                    file.write(self.config)
            try:
                done = subprocess.run([*self.prefix, program], cwd=directory, env=env, timeout=LIMIT_S,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, check=False)
            except subprocess.TimeoutExpired:
                return "limit", ""
        lines = done.stdout.decode(errors="replace").split("\n")
        return done.returncode, " / ".join([line for line in lines if line.strip()][-3:])[-400:]


def differs(program, bare, status, way):
    """Returns None if both statuses were the same in one of ATTEMPTS pairs of runs, else the verdict and how the last
    pair differs."""
    for _ in range(ATTEMPTS):
        got, text = way.run(program)
        if got == status:
            return None
        status = bare.run(program)[0]
        if got == status:
            return None
    for i in range(MORE_BARE):
        if bare.run(program)[0] == got:
            return "SKIP", f"ends with {status} or {got}, bare, too: {got} in further run {i + 1}"
    return "FAIL", f"{way.name}: expected exit status {status}, as bare, got {got}: {text}"


SUITES = {"glibc": ("glibc", glibc.build), "posix": ("posixtestsuite", posix_suite.build)}


def examine(program, bare, ways):
    status = bare.run(program)[0]
    if status == "limit":
        return "SKIP", f"does not end within {LIMIT_S} s, bare"
    for way in ways:
        difference = differs(program, bare, status, way)
        if difference is not None:
            return difference
    return "PASS", status


def stamp():
    """Returns a text that changes with these files."""
    text = ""
    here = os.path.dirname(os.path.abspath(__file__))
    for name in sorted(os.listdir(here)):
        if name.endswith(".py"):
            with open(os.path.join(here, name), encoding="utf-8") as file:
                text += file.read()
    return text


def prepare(suite, build_dir, directory):
    """Returns the programs of a suite, fetched and built if needed, or None if this machine cannot fetch it."""
    package, build = SUITES[suite]
    fetch = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apps", "fetch-source")
    status = subprocess.run([fetch, package, directory], check=False).returncode
    if status == 77:
        return None
    if status != 0:
        raise SystemExit(f"cannot fetch the source of {package}\n0 passed, 1 failed, 0 skipped")
    done = os.path.join(directory, "built")
    if not os.path.exists(done) or open(done, encoding="utf-8").read() != stamp():
        for binaries, flags in (("bin", []), (COUNTED, ["-pg", "-L" + build_dir, "-Wl,-rpath," + build_dir,
                                                        "-Wl,--no-as-needed", "-lgmon_mt"])):
            shutil.rmtree(os.path.join(directory, binaries), ignore_errors=True)
            os.makedirs(os.path.join(directory, binaries))
            built = build(os.path.join(directory, "source"), directory, os.path.join(directory, binaries), flags)
            print(f"{suite}/{binaries}: {sum(built)} programs built, {len(built) - sum(built)} cannot be built here",
                  flush=True)
        with open(done, "w", encoding="utf-8") as file:
            file.write(stamp())
    return [(directory, name) for name in sorted(os.listdir(os.path.join(directory, "bin")))]


def main():
    build_dir = os.path.abspath(sys.argv[1])
    globs = sys.argv[2:] or ["*"]
    bare = Way("bare")
    ways = [Way("calls counted", preload=os.path.join(build_dir, "libsync_trace.so"), binaries=COUNTED),
            Way("both libraries", preload=libraries(build_dir)),
            Way("waits only", preload=libraries(build_dir), config="[sync]\nmode = contended\n"),
            Way("record", prefix=[os.path.join(build_dir, "gprof-mt"), "record", "-q", "--"])]
    counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
    for suite in SUITES:
        if not any(glob.startswith((suite, "*")) for glob in globs):
            continue
        programs = prepare(suite, build_dir, os.path.join(build_dir, "apps", suite))
        if programs is None:
            counts["SKIP"] += 1
            continue
        programs = [p for p in programs if matches(f"{suite}/{p[1]}", globs)]
        verdicts = {}
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            results = pool.map(lambda program: examine(program, bare, ways), programs)
            for program, (word, text) in zip(programs, results):
                counts[word] += 1
                verdicts[text] = verdicts.get(text, 0) + (word == "PASS")
                if word != "PASS":
                    print(f"{word} {suite}/{program[1]}: {text}", flush=True)
        print(f"{suite}: " + ", ".join(f"{n} end with {status} bare and profiled" for status, n in sorted(
            verdicts.items(), key=str) if n), flush=True)
    print(f"{counts['PASS']} passed, {counts['FAIL']} failed, {counts['SKIP']} skipped")
    return 0 if counts["PASS"] and not counts["FAIL"] else 1


sys.exit(main())
