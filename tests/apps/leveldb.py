#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/leveldb.py BUILD DIR: runs the tests and db_bench of LevelDB (C++), built in DIR by
tests/apps/build.  The last line is "N passed, N failed, N skipped"."""
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from ways import (OURS, SYNCED, UNPROFILED, WAYS, App, Claims, compare_results, expect, same_arcs,
                  same_as_uftrace)

# Tests with one thread and the same calls in each run.
STEADY = ["arena_test", "bloom_test", "cache_test", "coding_test", "dbformat_test",
          "filter_block_test", "log_test", "version_edit_test", "write_batch_test"]
SEED = "--gtest_random_seed=301"
N_KEYS, N_READS, N_READERS = 20000, 4000, 4
# Without a cache, the order of the readers does not change the calls.
READ = ["db_bench", f"--num={N_KEYS}", f"--reads={N_READS}", f"--threads={N_READERS}",
        "--use_existing_db=1", "--cache_size=0", "--benchmarks=readrandom"]


def run_tests(app, way, program, *more):
    """Returns {test: result} of one test program; a program without named tests counts as one test.
    Keeps the output if a test failed."""
    work = app.folder(way + ".work")
    run = app.run(way, [program, SEED, *more], cwd=work, TEST_TMPDIR=work)
    shutil.rmtree(work)
    if way in OURS:
        expect(app.lost_nothing(run) > 0, f"{way}: expected a profile of {program}, found none")
    text = run.out.decode(errors="replace")
    results = {f"{program} {name}": "ok" if verdict == "OK" else "failed" for verdict, name in
               re.findall(r"^\[ +(OK|FAILED) +\] (\w+\.\w+) \(", text, re.M)}
    passed = all(r == "ok" for r in results.values())
    if results:
        expect((run.status == 0) == passed, f"{way}: {program}: got exit status {run.status}, but found "
                                            f"{list(results.values()).count('failed')} failed tests")
    else:
        results[program] = "ok" if run.status == 0 else f"exit status {run.status}"
    if run.status == 0:
        shutil.rmtree(run.folder)
    else:
        with open(os.path.join(run.folder, "said"), "wb") as file:
            file.write(run.out + run.err)
    return results


def claim_tests(app):
    """Runs all four ways at the same time, because these tests mostly wait."""
    with open(os.path.join(app.directory, "tests"), encoding="ascii") as file:
        programs = file.read().split()
    expect(len(programs) > 20, f"expected more than 20 test programs, found {len(programs)}")

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
    """db_bench finds all keys and runs all its benchmarks; the times in its output are ignored."""
    for way in WAYS:
        work = app.folder(way + ".work")
        run = app.run(way, ["db_bench", f"--num={N_KEYS}", f"--db={work}/db", "--threads=2",
                            "--benchmarks=fillseq,compact,readrandom,readseq,readreverse,stats"])
        text = run.out.decode()
        expect(run.status == 0, f"{way}: expected exit status 0, got {run.status}: {run.err[-300:]!r}")
        found = re.findall(r"^readrandom .*\((\d+) of (\d+) found\)", text, re.M)
        expect(found == [(str(N_KEYS), str(N_KEYS))], f"{way}: expected {N_KEYS} of {N_KEYS} found, got {found}")
        for name in ("fillseq", "readseq", "readreverse"):
            expect(re.search(rf"^{name} +: +[\d.]+ micros/op;", text, re.M), f"{way}: expected a result of "
                                                                             f"{name}, found none")
        if way in OURS:
            app.lost_nothing(run)


def fresh_database(app, database):
    """Copies the database for a run, because opening a database changes it."""
    work = app.folder("db.work")
    shutil.copytree(database, os.path.join(work, "db"))
    return work


def make_database(app):
    database = os.path.join(app.folder("database"), "db")
    subprocess.run([app.path(UNPROFILED, "db_bench"), f"--db={database}", f"--num={N_KEYS}",
                    "--benchmarks=fillseq,compact"], check=True, capture_output=True)
    return database


def claim_uftrace(app):
    database = make_database(app)
    return same_as_uftrace(app, [*READ, "--db=db"],
                           make_cwd=lambda _: fresh_database(app, database))


class Readers:
    """db_bench with four readers, unprofiled and with libsync_trace preloaded."""

    def __init__(self, app):
        self.app, self.run, self.tables = app, None, {}

    def said(self, way, database):
        """Runs db_bench; returns the run, and its status and output without times and progress."""
        run = self.app.run(way, [*READ, "--db=db"], cwd=fresh_database(self.app, database))
        found = re.findall(r"\((\d+) of (\d+) found\)", run.out.decode())
        expect(found == [(str(N_READS), str(N_KEYS))], f"{way}: expected {N_READS} of {N_KEYS} found, got {found}")
        out = re.sub(rb" +[\d.]+ micros/op", b" N micros/op", run.out)
        err = re.sub(rb"\.\.\. finished \d+ ops *\r|Date: .*", b"", run.err)
        return run, (run.status, out, err)

    def claim_same(self):
        database = make_database(self.app)
        _, wanted = self.said(UNPROFILED, database)
        self.run, found = self.said(SYNCED, database)
        expect(found == wanted, f"expected (status, stdout, stderr) {wanted}, got {found}")
        self.app.lost_nothing(self.run)
        self.tables = self.app.report(self.run, "sync", "locks")

    def locks(self, file, line):
        """Returns the mutexes that are named by this source line; `line` may occur several times."""
        path = os.path.join(self.app.directory, "source", file)
        with open(path, encoding="utf-8") as source:
            lines = [n for n, text in enumerate(source, 1) if line in text]
        places = [f"{os.path.basename(file)}:{n})" for n in lines]
        expect(places, f"{file}: expected the line {line}, found none")
        return [lock for lock in self.tables["locks"] if lock["type"] == "mutex" and
                any(lock["name"].endswith(place) for place in places)]

    def claim_locks(self):
        """DBImpl::Get takes the database's mutex twice.  With a cache of size 0, each block read is looked
        up, inserted and released, each time under the mutex of its shard."""
        of_database = self.locks("db/db_impl.cc", "impl->mutex_.Lock();")
        expect(len(of_database) == 1, f"expected one mutex of a database, found {len(of_database)} among " +
               str(sorted({lock["name"] for lock in self.tables["locks"]})))
        taken, reads = of_database[0]["acquired"], N_READS * N_READERS
        expect(0 <= taken - 2 * reads < 100, f"expected {2 * reads} to {2 * reads + 99} acquisitions for {reads} "
                                             f"reads, found {taken}")
        of_cache = self.locks("util/cache.cc", "MutexLock l(&mutex_);")
        expect(len(of_cache) > 1, f"expected several mutexes of caches, found {len(of_cache)}")
        for lock in of_database + of_cache:
            expect(all(re.search(r"\.cc:\d+\)$", site["site"] or "") for site in lock["sites"]),
                   f"{lock['name']}: expected a line of LevelDB for each call site, found {lock['sites']}")
        return (f"{of_database[0]['name']}: acquired {taken} times, {of_database[0]['contended']} waits; "
                f"{len(of_cache)} of caches")

    def claim_events(self):
        """Babeltrace counts the same events as the report.  Each lock was unlocked, except that the thread
        for background work may wait with its lock at the end."""
        text = subprocess.run(["babeltrace2", self.run.capture], check=True, capture_output=True).stdout
        calls = {}
        for row in self.tables["sync"]:
            calls[row["function"]] = calls.get(row["function"], 0) + row["calls"]
        for function in ("mutex_lock", "mutex_unlock"):
            seen, counted = text.count(f" {function}: ".encode()), calls["pthread_" + function]
            expect(seen == counted, f"{function}: expected {counted} events in babeltrace2, as in the report, "
                                    f"found {seen}")
        left = calls["pthread_mutex_lock"] - calls["pthread_mutex_unlock"]
        expect(left in (0, 1), f"expected 0 or 1 locks without an unlock, found {left}")
        return f"{calls['pthread_mutex_lock']} locks"


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
    readers = Readers(app)
    claims.check("db_bench, four readers, with libsync_trace preloaded: the same output, nothing lost",
                 readers.claim_same)
    claims.check("its mutexes, named by the lines that acquired them first", readers.claim_locks)
    claims.check("its events, as babeltrace2 counts them", readers.claim_events)
    return claims.close()


sys.exit(main())
