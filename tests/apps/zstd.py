#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/zstd.py BUILD DIR INPUT: checks zstd, built in DIR by tests/apps/build, which
compresses INPUT with four threads and with one.  The last line is "N passed, N failed, N skipped"."""
import hashlib
import os
import sys

from ways import App, Claims, expect, same_arcs, same_as_uftrace, same_everywhere

ZSTD = "zstd"
# Their counts vary: a context is created if all existing ones are in use, and the main thread polls the progress.
APART = (r"ZSTDMT_(freeCCtx|releaseCCtx|getCCtx|toFlushNow|compressStream.*)|"
         r"ZSTD_(CCtx_reset|isError|CCtxParams_(init|reset)|createCCtx.*|freeCCtx.*|freeCDict|"
         r"custom(Malloc|Free|Calloc)|toFlushNow|compressStream.*)|AIO_.*|POOL_.*")
COUNTED_BYTES = 8 << 20  # of the input, for runs in which uftrace records each call


def digest(run, _):
    return len(run.out), hashlib.sha256(run.out).hexdigest(), run.err


def claim_round(app, input_file):
    path = os.path.join(app.runs, "packed.zst")
    packed = app.run("linked", [ZSTD, "-T4", "-9", "-q", input_file, "-o", path])
    expect(packed.status == 0, f"exit status {packed.status}: {packed.err[-300:]!r}")
    found = app.run("linked", [ZSTD, "-d", "-q", "-c", path])
    with open(input_file, "rb") as file:
        expect(found.out == file.read(), "expected the input after decompression, found other data")


def main():
    build, directory, input_file = map(os.path.abspath, sys.argv[1:])
    app, claims = App(build, directory), Claims("zstd")
    small = os.path.join(app.runs, "small")
    with open(input_file, "rb") as source, open(small, "wb") as file:
        file.write(source.read(COUNTED_BYTES))
    claims.check("zstd -T4 on 64 MiB: the same output file", lambda: same_everywhere(
        app, [ZSTD, "-T4", "-9", "-q", "-c", input_file], digest))
    claims.check("compressed data decompresses to the input", lambda: claim_round(app, input_file))
    claims.check("a failure: the same message and exit status", lambda: same_everywhere(
        app, [ZSTD, "-T4", "-d", "-q", "-c", os.path.abspath(__file__)], digest))
    claims.check("zstd --single-thread: the arcs that glibc counts", lambda: same_arcs(
        app, [ZSTD, "--single-thread", "--no-asyncio", "-9", "-q", "-c", small]))
    claims.check("zstd -T4: the calls that uftrace counts", lambda: same_as_uftrace(
        app, [ZSTD, "-T4", "-B512KiB", "-9", "-q", "-c", small], apart=APART))
    return claims.close()


sys.exit(main())
