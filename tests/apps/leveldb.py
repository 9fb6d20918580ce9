#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/leveldb.py BUILD DIR: LevelDB (C++), built in DIR by tests/apps/build.  Its own tests,
and its db_bench.  "N passed, N failed, N skipped" comes last."""
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from ways import (OURS, UNPROFILED, WAYS, App, Claims, compare_results, expect, same_arcs,
                  same_as_uftrace)

# Of one thread, and alike from run to run.
STEADY = ["arena_test", "bloom_test", "cache_test", "coding_test", "dbformat_test",
          "filter_block_test", "log_test", "version_edit_test", "write_batch_test"]
SEED = "--gtest_random_seed=301"
N_KEYS = 20000
READ = ["db_bench", f"--num={N_KEYS}", "--reads=4000", "--threads=4", "--use_existing_db=1",
        "--cache_size=0", "--benchmarks=readrandom"]  # no cache: who reads first does not matter


def run_tests(app, way, program, *more):
    """{test: result} of one test program; the program itself is a test if it has none.  What it said
    is kept if any failed."""
    work = app.folder(way + ".work")
    run = app.run(way, [program, SEED, *more], cwd=work, TEST_TMPDIR=work)
    shutil.rmtree(work)
    if way in OURS:
        expect(app.lost_nothing(run) > 0, f"{way}: {program} has left no profile")
    text = run.out.decode(errors="replace")
    results = {f"{program} {name}": "ok" if verdict == "OK" else "failed" for verdict, name in
               re.findall(r"^\[ +(OK|FAILED) +\] (\w+\.\w+) \(", text, re.M)}
    passed = all(r == "ok" for r in results.values())
    if results:
        expect((run.status == 0) == passed, f"{way}: {program}: exit status {run.status}, but "
                                            f"{list(results.values()).count('failed')} failed")
    else:
        results[program] = "ok" if run.status == 0 else f"exit status {run.status}"
    if run.status == 0:
        shutil.rmtree(run.folder)
    else:
        with open(os.path.join(run.folder, "said"), "wb") as file:
            file.write(run.out + run.err)
    return results


def claim_tests(app):
    """All four ways at a time: these tests spend their time waiting."""
    with open(os.path.join(app.directory, "tests"), encoding="ascii") as file:
        programs = file.read().split()
    expect(len(programs) > 20, f"only {len(programs)} test programs")

    def all_of(way):
        found = {}
        for program in programs:
            found.update(run_tests(app, way, program))
        return found

    def again(way, test):
        words = test.split()
        more = [f"--gtest_filter={words[1]}"] if len(words) > 1 else []
        return run_tests(app, way, words[0], *more).get(test, "not run")

    with ThreadPoolExecutor(len(WAYS)) as pool:
        results = dict(zip(WAYS, pool.map(all_of, WAYS)))
    return compare_results(results, again)


def claim_db_bench(app):
    """The same data in the database, and the same found in it, whatever it says of times."""
    for way in WAYS:
        work = app.folder(way + ".work")
        run = app.run(way, ["db_bench", f"--num={N_KEYS}", f"--db={work}/db", "--threads=2",
                            "--benchmarks=fillseq,compact,readrandom,readseq,readreverse,stats"])
        text = run.out.decode()
        expect(run.status == 0, f"{way}: exit status {run.status}: {run.err[-300:]!r}")
        found = re.findall(r"^readrandom .*\((\d+) of (\d+) found\)", text, re.M)
        expect(found == [(str(N_KEYS), str(N_KEYS))], f"{way}: {found} found")
        for name in ("fillseq", "readseq", "readreverse"):
            expect(re.search(rf"^{name} +: +[\d.]+ micros/op;", text, re.M), f"{way}: no {name}")
        if way in OURS:
            app.lost_nothing(run)


def fresh_database(app, database):
    """Opening a database changes it: each run has one of its own."""
    work = app.folder("db.work")
    shutil.copytree(database, os.path.join(work, "db"))
    return work


def claim_uftrace(app):
    database = os.path.join(app.folder("database"), "db")
    subprocess.run([app.path(UNPROFILED, "db_bench"), f"--db={database}", f"--num={N_KEYS}",
                    "--benchmarks=fillseq,compact"], check=True, capture_output=True)
    return same_as_uftrace(app, [*READ, "--db=db"],
                           make_cwd=lambda _: fresh_database(app, database))


def claim_arcs(app):
    said = [f"{program} {same_arcs(app, [program, SEED])}" for program in STEADY]
    filtered = ["skiplist_test", SEED, "--gtest_filter=-*Concurrent*"]
    said.append(f"skiplist_test {same_arcs(app, filtered)}")
    return "; ".join(said)


def main():
    build, directory = map(os.path.abspath, sys.argv[1:3])
    app, claims = App(build, directory), Claims("leveldb")
    claims.check("its tests: the same results", lambda: claim_tests(app))
    claims.check("db_bench writes and finds the same", lambda: claim_db_bench(app))
    claims.check("tests of one thread: the arcs that glibc counts", lambda: claim_arcs(app))
    claims.check("db_bench, four threads: the calls that uftrace counts", lambda: claim_uftrace(app))
    return claims.close()


sys.exit(main())
