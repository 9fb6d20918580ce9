# SPDX-License-Identifier: MIT
"""Pairs of programs of the distribution: with a lock that their authors have removed, or that their manual tells to
avoid, and without it. Both are built with -O2 -g by tests/apps/build.

Each fact has its source: a commit, a release or a manual of the program.  The sections are milliseconds long, and
there are more threads than the two CPUs on which they run, so that threads wait for them on any machine and under any
load."""
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time

from memcached import DEADLINE_S, Server, append, expect_loopback
from ways import expect, place

N_CPUS = 2
BEFORE, AFTER = RUNS = ("before", "after")


class Program:
    """A program, its workload, and patterns for the lock, for the place to blame and for the path to it.
    `change` is the change of the authors, for gprof-mt replay."""
    lock = site = path = change = None
    settings = ()
    before = "before"  # the folder of the program with the lock

    def __init__(self, build, directory, input_file, folder):
        self.gprof_mt = os.path.join(build, "gprof-mt")
        self.directory, self.input = directory, input_file
        self.folder = os.path.join(directory, folder)
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)

    def program(self, run, name):
        """The path of the program, if it was built twice."""
        return os.path.join(self.directory, self.before if run == BEFORE else "plain", name)

    def place(self, file, text):
        return place(os.path.join(self.directory, "source", file), text)

    def capture(self, run):
        return os.path.join(self.folder, run)

    def prefix(self, run):
        return [self.gprof_mt, "record", "-q", "-o", self.capture(run),
                *(word for setting in self.settings for word in ("--set", setting)), "--"]

    def execute(self, run, prefix):
        """Runs the workload; returns its exit status, its output and its run time in seconds."""
        command, start = prefix + self.command(run), time.monotonic()
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=DEADLINE_S, check=False)
        return done.returncode, done.stderr.decode(errors="replace"), time.monotonic() - start

    def run(self, run, prefix=()):
        """Runs the workload, which must succeed; returns its run time in seconds."""
        status, text, seconds = self.execute(run, list(prefix))
        expect(status == 0, f"{run}: expected exit status 0, got {status}: {text[-500:]}")
        return seconds

    def record(self):
        for run in RUNS:
            self.run(run, self.prefix(run))

    def read(self, *command):
        done = subprocess.run([self.gprof_mt, *command], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"{command[0]}: expected exit status 0, got {done.returncode}: "
                                     f"{done.stderr[-500:]}")
        return done.stdout


class Memcached(Program):
    """Until release 1.4.10 ("use item partitioned lock for as much as possible"), all items had one lock; now a
    table of locks is selected from by a hash of the key (doc/threads.txt).  Each client appends to an item of its own,
    which do_store_item copies with the lock held."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.lock = "^mutex at memcached_thread_init " + self.place("thread.c", "pthread_mutex_init(&item_locks[i]")
        self.site = "^store_item "
        line = re.search(r":\((\d+)", self.lock)[1]
        self.change = f"split mutex at memcached_thread_init (thread.c:{line})* into 8192"
        self.path = "item_unlock < store_item < complete_nread_ascii < .*< drive_machine < .*< worker_libevent"

    def execute(self, run, prefix):
        expect_loopback()
        server = Server(prefix, self.program(run, "memcached"), os.path.join(tempfile.mkdtemp(dir=self.folder), "server"),
                        "-m", "256", "-I", "8m")
        try:
            port, start = server.port(), time.monotonic()
            append(port, [b"%d" % n for n in range(4)], 4000000, 1000)
            return *server.end(), time.monotonic() - start
        finally:
            server.kill()


class Leveldb(Program):
    """DBImpl::Get searched the memtables with the mutex of the database locked, until commit e3584f9 of 2011, "reduce
    lock contention in Get()".  All data is in the memtable, from the log of the database."""
    change = "shrink leveldb::DBImpl::Get* to 5 %"

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


class LeveldbCache(Leveldb):
    """All threads shared one cache of blocks with one lock, until it became 16 caches (util/cache.cc), one of which is
    selected by a hash of the key."""
    before = "before_cache"
    change = "split mutex at leveldb::*LRUCache::* into 16"

    def db_bench(self, run, database, *more):
        return [self.program(run, "db_bench"), "--db=" + database, "--num=100000", "--cache_size=100000000", *more]

    def command(self, run):
        database = os.path.join(self.folder, run + ".db")
        subprocess.run(self.db_bench(AFTER, database, "--benchmarks=fillseq,compact"), check=True, capture_output=True)
        return self.db_bench(run, database, "--use_existing_db=1", "--threads=6", "--reads=30000",
                             "--benchmarks=readrandom")


class Sqlite(Program):
    """SQLite's manual of sqlite3_open_v2() discourages the use of a shared cache.  Its mutex is held while a
    statement runs (src/btmutex.c), so that all connections take turns; a private cache has none."""
    settings = ("names.wrappers=sqlite3_mutex_enter, sqlite3_mutex_leave, sqlite3_mutex_try, sqlite3MutexAlloc, "
                "pthreadMutexAlloc",)
    lock = r"^mutex at sqlite3BtreeOpen \(sqlite3\.c:"
    site = "^unlockBtreeMutex "
    change = "split mutex at sqlite3BtreeOpen* by thread"
    path = "unlockBtreeMutex < sqlite3BtreeLeave < .*< sqlite3VdbeExec < .*< sqlite3_step < read_all"

    def fill(self, run, values):
        """Makes the database, unless the run has one; returns its path."""
        database = os.path.join(self.folder, run + ".db")
        with sqlite3.connect(database) as connection:
            connection.execute("create table if not exists entries(key integer primary key, value text)")
            connection.executemany("insert or ignore into entries values(?, ?)", enumerate(values))
        connection.close()
        return database

    def command(self, run):
        database = self.fill(run, (f"value {n}" for n in range(100000)))
        return [os.path.join(self.directory, "plain/sqlite_readers"),
                f"file:{database}?cache={'shared' if run == BEFORE else 'private'}", "10"]


class SqlitePages(Sqlite):
    """All caches of pages were one group with one mutex, as they still are with SQLITE_ENABLE_MEMORY_MANAGEMENT; since
    then each connection has a group of its own, without a mutex (src/pcache1.c, "mode 1" and "mode 2")."""
    settings = ()
    change = "split staticMutexes[4].mutex by thread"
    before = "before_pages"

    def command(self, run):
        database = self.fill(run, ("x" * (20 + n * 7919 % 380) for n in range(40000)))
        return [self.program(run, "sqlite_points"), f"file:{database}?cache=private", "10000"]


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


BLAMED = {"memcached": Memcached, "leveldb": Leveldb, "sqlite": Sqlite, "zstd": Zstd}
PREDICTED = {"memcached": [Memcached], "leveldb": [Leveldb, LeveldbCache], "sqlite": [Sqlite, SqlitePages]}
