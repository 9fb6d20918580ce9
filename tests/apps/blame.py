#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/blame.py BUILD DIR INPUT NAME: a lock of NAME that was hot until its authors removed it, or that their
manual tells to avoid.  Records the program before and after, both built with -O2 -g by tests/apps/build, and checks
that the summary's finding is the lock, that `report blame` begins with the lock, the place that holds it and the path
to this place, and that `diff` shows that they are gone.

Each fact has its source: a commit, a release or a manual of the program.  The sections are milliseconds long, and
there are more threads than the two CPUs on which they run, so that threads wait for them on any machine and under any
load.  The last line is "N passed, N failed, N skipped"."""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys

from memcached import DEADLINE_S, Server, append, expect_loopback
from ways import Claims, expect, place

N_CPUS = 2
GONE = 0.2  # of before, the place may be blamed for so much afterwards
BEFORE, AFTER = RUNS = ("before", "after")


class Program:
    """A program, its workload, and patterns for the lock, for the place to blame and for the path to it."""
    lock = site = path = None
    settings = ()

    def __init__(self, build, directory, input_file):
        self.gprof_mt = os.path.join(build, "gprof-mt")
        self.directory, self.input = directory, input_file
        self.folder = os.path.join(directory, "blame")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)

    def program(self, run, name):
        """The path of the program, if it was built twice."""
        return os.path.join(self.directory, "before" if run == BEFORE else "plain", name)

    def place(self, file, text):
        return place(os.path.join(self.directory, "source", file), text)

    def capture(self, run):
        return os.path.join(self.folder, run)

    def prefix(self, run):
        return [self.gprof_mt, "record", "-q", "-o", self.capture(run),
                *(word for setting in self.settings for word in ("--set", setting)), "--"]

    def run(self, run):
        """Runs the workload under record; returns its exit status and output."""
        done = subprocess.run(self.prefix(run) + self.command(run), cwd=self.folder, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=DEADLINE_S, check=False)
        return done.returncode, done.stderr.decode(errors="replace")

    def record(self):
        for run in RUNS:
            status, text = self.run(run)
            expect(status == 0, f"{run}: expected exit status 0, got {status}: {text[-500:]}")

    def read(self, *command):
        done = subprocess.run([self.gprof_mt, *command], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"{command[0]}: expected exit status 0, got {done.returncode}: "
                                     f"{done.stderr[-500:]}")
        return done.stdout

    def tables(self, *command):
        return json.loads(self.read(*command, "--format", "json", "blame"))

    def claim_finding(self):
        """Not the cause in words: under load, the holder is preempted."""
        text = self.read("report", "-i", self.capture(BEFORE), "summary")
        found = re.search(r"^  finding (.*?)\n  \w", text, re.M | re.S)
        expect(found, f"expected a finding, found {text[:500]}")
        finding = " ".join(found[1].split())
        expect(re.search(self.lock.lstrip("^"), finding), f"expected {self.lock}, found {finding}")
        return finding.split(":")[0]

    def is_culprit(self, row, name):
        return (row["kind"] == "holder" and re.search(self.lock, row[name]) and
                re.search(self.site, row.get("site") or ""))

    def claim_first(self):
        """The row of the lock's hand-overs may precede: they take long if other programs use the CPUs.  So may that of
        releases without a path: those of a thread that locks before one that another thread woke has run."""
        rows = self.tables("report", "-i", self.capture(BEFORE))["blame"]
        first = rows[0]
        expect(re.search(self.lock, first["name"]), f"expected {self.lock} in the first row, found {first}")
        for key in "site", "path":
            first = [row for row in rows if row[key]][0]
            expect(self.is_culprit(first, "name"), f"expected {self.lock} and {self.site} in the first row with a "
                                                   f"{key}, found {first}")
        expect(re.search(self.path, first["path"]), f"expected {self.path} in the first path, found {first}")
        return f"{first['wait_ns'] / 1e6:.0f} ms, row {rows.index(first) + 1}"

    def claim_gone(self):
        """Rows of idle waits may precede: they are as long as the program runs."""
        rows = [row for row in self.tables("diff", self.capture(BEFORE), self.capture(AFTER))["blame"]
                if row.get("site") and any(row.get("wait_ns_" + run) != row.get("idle_ns_" + run) for run in "ab")]
        expect(self.is_culprit(rows[0], "group"), f"expected the lock and the place in the first row with a call that "
                                                  f"is not idle, found {rows[0]}")
        culprits = [row for row in rows if self.is_culprit(row, "group")]
        before, after = (sum(row.get(key) or 0 for row in culprits) for key in ("wait_ns_a", "wait_ns_b"))
        expect(after <= GONE * before, f"expected {GONE:.0%} of {before} ns at most afterwards, found {after} ns")
        return f"{before / 1e6:.0f} ms before, {after / 1e6:.1f} ms after"


class Memcached(Program):
    """Until release 1.4.10 ("use item partitioned lock for as much as possible"), all items had one lock; now a
    table of locks is selected from by a hash of the key (doc/threads.txt).  Each client appends to an item of its own,
    which do_store_item copies with the lock held."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.lock = "^mutex at memcached_thread_init " + self.place("thread.c", "pthread_mutex_init(&item_locks[i]")
        self.site = "^store_item "
        self.path = "item_unlock < store_item < complete_nread_ascii < .*< drive_machine < .*< worker_libevent"

    def run(self, run):
        expect_loopback()
        server = Server(self.prefix(run), self.program(run, "memcached"), os.path.join(self.folder, run + ".server"),
                        "-m", "256", "-I", "8m")
        try:
            append(server.port(), [b"%d" % n for n in range(4)], 4000000, 1000)
            return server.end()
        finally:
            server.kill()


class Leveldb(Program):
    """DBImpl::Get searched the memtables with the mutex of the database locked, until commit e3584f9 of 2011, "reduce
    lock contention in Get()".  All data is in the memtable, from the log of the database."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.lock = "^mutex at leveldb::DB::Open.* " + self.place("db/db_impl.cc", "impl->mutex_.Lock();")
        self.site = r"^leveldb::DBImpl::Get\("
        self.path = r"MutexLock::~MutexLock\(\) < leveldb::DBImpl::Get.* < leveldb::Benchmark::ReadRandom"

    def db_bench(self, run, database, *more):
        return [self.program(run, "db_bench"), "--db=" + database, "--num=40", "--value_size=1000000",
                "--write_buffer_size=400000000", *more]

    def command(self, run):
        database = os.path.join(self.folder, run + ".db")
        subprocess.run(self.db_bench(AFTER, database, "--benchmarks=fillseq"), check=True, capture_output=True)
        return self.db_bench(run, database, "--use_existing_db=1", "--reuse_logs=1", "--threads=6", "--reads=800",
                             "--benchmarks=readrandom")


class Sqlite(Program):
    """SQLite's manual of sqlite3_open_v2() discourages the use of a shared cache.  Its mutex is held while a
    statement runs (src/btmutex.c), so that all connections take turns; a private cache has none."""
    settings = ("names.wrappers=sqlite3_mutex_enter, sqlite3_mutex_leave, sqlite3_mutex_try, sqlite3MutexAlloc, "
                "pthreadMutexAlloc",)
    lock = r"^mutex at sqlite3BtreeOpen \(sqlite3\.c:"
    site = "^unlockBtreeMutex "
    path = "unlockBtreeMutex < sqlite3BtreeLeave < .*< sqlite3VdbeExec < .*< sqlite3_step < read_all"

    def command(self, run):
        database = os.path.join(self.folder, run + ".db")
        with sqlite3.connect(database) as connection:
            connection.execute("create table entries(key integer primary key, value text)")
            connection.executemany("insert into entries values(?, ?)",
                                   ((n, f"value {n}") for n in range(100000)))
        connection.close()
        return [os.path.join(self.directory, "plain/sqlite_readers"),
                f"file:{database}?cache={'shared' if run == BEFORE else 'private'}", "10"]


class Zstd(Program):
    """The search for long matches is serial, with serialState->mutex locked.  By zstd's manual, a larger
    ldmHashRateLog makes it faster, since it looks up fewer positions: before, every second, and by default one in
    2 to the power of 7."""
    settings = ("sync.mode=all",)

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.lock = "^mutex at ZSTDMT_serialState_init " + \
            self.place("lib/compress/zstdmt_compress.c", "ZSTD_pthread_mutex_init(&serialState->mutex")
        self.site = "^ZSTDMT_serialState_update "
        self.path = "^ZSTDMT_serialState_update < ZSTDMT_compressionJob < POOL_thread"

    def command(self, run):
        path = os.path.join(self.folder, "input")
        with open(self.input, "rb") as source, open(path, "wb") as file:
            file.write(source.read(32 << 20))
        return [os.path.join(self.directory, "plain/zstd"), "-T4", "-1", "--long=20",
                f"--zstd=ldmHashRateLog={1 if run == BEFORE else 7}", "-B524288", "-q", "-c", path]


PROGRAMS = {"memcached": Memcached, "leveldb": Leveldb, "sqlite": Sqlite, "zstd": Zstd}


def main():
    build, directory, input_file = map(os.path.abspath, sys.argv[1:4])
    name = sys.argv[4]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CPUS])
    program, claims = PROGRAMS[name](build, directory, input_file), Claims(name)
    claims.check("recorded with its hot lock, and without", program.record)
    claims.check("the summary's finding is the hot lock", program.claim_finding)
    claims.check("report blame begins with the hot lock, its holder's place and path", program.claim_first)
    claims.check("diff shows that it is gone", program.claim_gone)
    return claims.close()


sys.exit(main())
