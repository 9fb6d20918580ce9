#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/stress_ng.py BUILD DIR: runs Debian's stress-ng with libsync_trace preloaded; its stressors
verify their results.  The last line is "N passed, N failed, N skipped"."""
import json
import os
import shutil
import subprocess
import sys

from ways import Claims, Skip, expect

STRESSORS = ("mutex", "sem", "sem-sysv", "futex", "pthread", "fork", "vfork", "clone", "sigsegv")
SECONDS = 2


def stress(directory, stressor, library):
    folder = os.path.join(directory, stressor + (".traced" if library else ""))
    os.makedirs(folder)
    env = dict(os.environ)
    env.pop("LD_PRELOAD", None)
    if library:
        env["LD_PRELOAD"] = library
    done = subprocess.run(["stress-ng", f"--{stressor}", "2", "--timeout", str(SECONDS), "--verify"],
                          cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=300, check=False)
    return folder, done.returncode, done.stdout + done.stderr


def claim(build, directory, stressor):
    _, status, text = stress(directory, stressor, None)
    if status:
        raise Skip(f"fails without libsync_trace, too: exit status {status}: {text[-200:]}")
    folder, status, text = stress(directory, stressor, os.path.join(build, "libsync_trace.so"))
    expect(status == 0, f"expected exit status 0, got {status}: {text[-500:]}")
    capture = os.path.join(folder, "gprof-mt.data")
    if not os.path.exists(capture):
        raise Skip("it starts no thread and takes no lock")
    done = subprocess.run([os.path.join(build, "gprof-mt"), "report", "-i", capture, "--format", "json",
                           "sync"], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"report: expected exit status 0, got {done.returncode}: {done.stderr[-500:]}")
    calls = sum(row["calls"] for row in json.loads(done.stdout)["sync"])
    done = subprocess.run(["babeltrace2", "--output-format=dummy", capture], capture_output=True,
                          text=True, check=False)
    expect(done.returncode == 0 and not done.stderr, "babeltrace2: expected exit status 0 and no messages, got "
                                                     f"{done.returncode}: {done.stderr[-300:]}")
    return f"{calls} operations"


def main():
    build, directory = map(os.path.abspath, sys.argv[1:3])
    claims = Claims("stress_ng")
    shutil.rmtree(directory, ignore_errors=True)
    for stressor in STRESSORS:
        claims.check(stressor, lambda stressor=stressor: claim(build, directory, stressor))
    return claims.close()


sys.exit(main())
