#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/xz.py BUILD DIR INPUT: checks xz-utils, built in DIR by tests/apps/build: runs its own
tests, and compresses INPUT with four threads and with one.  The last line is "N passed, N failed, N
skipped"."""
import hashlib
import os
import shutil
import subprocess
import sys

from ways import (BINARIES, WAYS, App, Claims, OURS, Run, compare_results, expect, same_arcs,
                  same_as_uftrace, same_everywhere)

XZ = "src/xz/xz"
RESULTS = {0: "ok", 77: "skip"}
# Their counts vary: buffers of finished threads are reused, and the main thread polls the progress.
APART = (r"tuklib_exit|lzma_(alloc|free|alloc_zero|outq_.*|code)|move_head_to_cache|"
         r"stream_encode_mt|message_progress_update|io_wait")
COUNTED_BYTES = 2 << 20  # of the input, for runs in which uftrace records each call


def run_test(app, way, test):
    """Runs one of xz's tests as its makefile does: in tests/, beside the xz under test."""
    folder = app.folder(f"{way}.{test}")
    shutil.copytree(os.path.join(app.directory, BINARIES[way]), os.path.join(folder, "tree"))
    inside = os.path.join(folder, "tree", "tests")
    source = os.path.join(app.directory, "source", "tests")
    path = os.path.join(inside if os.path.exists(os.path.join(inside, test)) else source, test)
    done = subprocess.run([path], cwd=inside, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600, check=False,
                          env=dict(app.environment(way, folder), srcdir=source))
    shutil.rmtree(os.path.join(folder, "tree"))
    run = Run(done.returncode, done.stdout, b"", folder)
    if way in OURS:
        expect(app.lost_nothing(run) > 0, f"{way}: expected a profile of {test}, found none")
    return RESULTS.get(done.returncode, f"exit status {done.returncode}")


def claim_tests(app):
    with open(os.path.join(app.directory, "tests"), encoding="ascii") as file:
        tests = file.read().split()
    expect(len(tests) > 10, f"expected more than 10 tests, found {len(tests)}")
    results = {way: {test: run_test(app, way, test) for test in tests} for way in WAYS}
    return compare_results(results, lambda way, test: run_test(app, way, test))


def digest(run, _):
    return len(run.out), hashlib.sha256(run.out).hexdigest(), run.err


def claim_round(app, input_file):
    packed = app.run("linked", [XZ, "-T4", "-1", "-c", input_file])
    path = os.path.join(packed.folder, "packed.xz")
    with open(path, "wb") as file:
        file.write(packed.out)
    with open(input_file, "rb") as file:
        wanted = hashlib.sha256(file.read()).digest()
    found = app.run("linked", [XZ, "-d", "-T4", "-c", path])
    expect(hashlib.sha256(found.out).digest() == wanted, "expected the input after decompression, found other data")


def main():
    build, directory, input_file = map(os.path.abspath, sys.argv[1:])
    app, claims = App(build, directory), Claims("xz")
    small = os.path.join(app.runs, "small")
    with open(input_file, "rb") as source, open(small, "wb") as file:
        file.write(source.read(COUNTED_BYTES))
    threaded = [XZ, "-T4", "-1", "--block-size=256KiB", "-c", small]
    claims.check("its tests: the same results", lambda: claim_tests(app))
    claims.check("xz -T4 on 64 MiB: the same output file", lambda: same_everywhere(
        app, [XZ, "-T4", "-1", "-c", input_file], digest))
    claims.check("compressed data decompresses to the input", lambda: claim_round(app, input_file))
    claims.check("a failure: the same message and exit status", lambda: same_everywhere(
        app, [XZ, "-T4", "-d", "-c", os.path.abspath(__file__)], digest))
    claims.check("xz -T1: the arcs that glibc counts", lambda: same_arcs(
        app, [XZ, "-T1", "-2", "-c", small]))
    claims.check("xz -T4: the calls that uftrace counts", lambda: same_as_uftrace(
        app, threaded, apart=APART))
    return claims.close()


sys.exit(main())
