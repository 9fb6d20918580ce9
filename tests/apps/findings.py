#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/findings.py BUILD DIR INPUT NAME: records NAME, built with -O2 -g in DIR/plain by
tests/apps/build, and checks that an engineer who has never seen the program reads its facts in the first lines:
those that `record` prints when the program has ended, ten at most, and the first ten of `report`, below the title
and the finding.

The facts are taken from the sources of the programs, not from reports.  Each workload has more threads than the
two CPUs on which it runs, and one object that all of them need, so that it waits on any machine and under any
load.  The last line is "N passed, N failed, N skipped"."""
import os
import re
import shutil
import subprocess
import sys

from memcached import DEADLINE_S, Server, append, expect_loopback
from ways import Claims, Skip, expect, place

LINES_MAX = 10
N_CPUS = 2
N_APPENDS = 10000
VALUE_BYTES = 300000


class Fact:
    """What an engineer must read: a line of this kind that contains the patterns in this order.  `first`: it is the
    first line of its kind.  `never`: no line of this kind contains them."""

    def __init__(self, says, kind, *patterns, first=False, never=False):
        self.says, self.kind, self.first, self.never = says, kind, first, never
        self.pattern = re.compile(".*".join(patterns))

    def check(self, source, lines):
        lines = lines.get(self.kind, [])
        found = [line for line in (lines[:1] if self.first else lines) if self.pattern.search(line)]
        if self.never:
            expect(not found, f"{source}: expected no line `{self.kind}` with {self.pattern.pattern}, found {found}")
        else:
            expect(found, f"{source}: expected {'the first' if self.first else 'a'} line `{self.kind}` with "
                          f"{self.pattern.pattern}, found {lines}")


class Program:
    """A program, its workload and its facts."""

    def __init__(self, build, directory, input_file):
        self.gprof_mt = os.path.join(build, "gprof-mt")
        self.directory, self.input = directory, input_file
        self.folder = os.path.join(directory, "findings")
        self.capture = os.path.join(self.folder, "capture")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.read, self.has_ready_times = {}, False

    def path(self, name):
        return os.path.join(self.directory, "plain", name)

    def place(self, file, text):
        return place(os.path.join(self.directory, "source", file), text)

    def head_of_input(self, mib):
        path = os.path.join(self.folder, "input")
        with open(self.input, "rb") as source, open(path, "wb") as file:
            file.write(source.read(mib << 20))
        return path

    def prefix(self):
        return [self.gprof_mt, "record", "-o", self.capture, "--"]

    def run(self):
        """Runs the workload under record; returns its exit status and what record printed."""
        with open(os.path.join(self.folder, "output"), "wb") as out:
            done = subprocess.run(self.prefix() + self.command(), cwd=self.folder, stdin=subprocess.DEVNULL,
                                  stdout=out, stderr=subprocess.PIPE, timeout=DEADLINE_S, check=False)
        return done.returncode, done.stderr.decode(errors="replace")

    def record(self):
        status, text = self.run()
        expect(status == 0, f"expected exit status 0, got {status}: {text[-500:]}")
        lines = re.findall(r"gprof-mt: (.*)", text)
        expect(len(lines) <= LINES_MAX, f"expected {LINES_MAX} lines at most, found {lines}")
        ours = {}
        for line in lines:
            ours.setdefault(line.split()[0].rstrip(":"), []).append(line)
        self.read = {"record": ours, "summary": self.summary()}

    def summary(self):
        done = subprocess.run([self.gprof_mt, "report", "-i", self.capture, "summary"], capture_output=True,
                              text=True, check=False)
        expect(done.returncode == 0, f"report: expected exit status 0, got {done.returncode}: {done.stderr[-500:]}")
        lines = [line for line in done.stdout.splitlines() if line.startswith("  ")]
        self.has_ready_times = any("ready without a CPU" in line for line in lines if line.startswith("  thread time"))
        # The finding, a sentence in several lines, ends before the next title.
        at = next(i for i, line in enumerate(lines) if i and line[2:14].strip())
        items, title = {"finding": [" ".join(line[15:] for line in lines[:at])]}, ""
        for line in lines[at:][:LINES_MAX]:
            title = line[2:14].strip() or title
            items.setdefault(title, []).append(line[15:])
        items["waited"] = items.pop("waited most", [])
        return items

    def check(self, fact):
        expect(self.read, "expected a recording, found none")
        if fact.kind == "limit":
            if not self.has_ready_times:
                raise Skip("no scheduling events with wakings here")
            fact.check("summary", self.read["summary"])
            return
        for source, lines in self.read.items():
            fact.check(source, lines)


class Pbzip2(Program):
    def command(self):
        return [self.path("pbzip2"), "-k", "-c", "-p4", "-b1", self.head_of_input(16)]

    def facts(self):
        return [
            Fact("four consumers compress on two CPUs: the machine is the limit", "limit", "^the machine"),
            # The writer waits less by the time in which it writes, or more by that before the terminator starts.
            Fact("the terminator waits for a signal, or the writer for a block, from start to end: it is idle", "idle",
                 r"longest .* for (TerminateCond.*mostly at terminatorThreadProc|OutBufferHeadNotEmpty.*mostly at "
                 r"safe_cond_timed_wait)"),
            Fact("that wait holds nothing back", "waited", "TerminateCond", never=True),
            Fact("nor does main's wait for room in the queue, while consumers compress", "waited",
                 "for cond at queueInit", never=True),
            Fact("nor does the writer's wait for the next block", "waited", "OutBufferHeadNotEmpty", never=True),
        ]


class Xz(Program):
    def command(self):
        return [self.path("src/xz/xz"), "-T4", "-1", "--block-size=256KiB", "-c", self.head_of_input(16)]

    def facts(self):
        file = "src/liblzma/common/stream_encoder_mt.c"
        return [
            Fact("four workers compress on two CPUs: the machine is the limit", "limit", "^the machine"),
            Fact("main waits for workers, in wait_for_work: it is idle", "idle", "longest .* for cond at "
                 "stream_encoder_mt_init " + self.place(file, "mythread_cond_init(&coder->cond)"),
                 "mostly at wait_for_work"),
            Fact("neither that nor a worker's wait for input holds anything back", "waited", "for .*cond",
                 never=True),
        ]


class Zstd(Program):
    """The search for long matches is serial: ZSTDMT_serialState_update calls ZSTD_ldm_generateSequences with
    serialState->mutex locked, one job after the other.  ldmHashRateLog=1 makes it far longer than level 1."""

    def command(self):
        return [self.path("zstd"), "-T4", "-1", "--long=20", "--zstd=ldmHashRateLog=1", "-B524288", "-q", "-c",
                self.head_of_input(32)]

    def facts(self):
        return [
            Fact("jobs wait for serialState->mutex, which another job's search for long matches holds", "waited",
                 "for mutex at ZSTDMT_serialState_init " +
                 self.place("lib/compress/zstdmt_compress.c", "ZSTD_pthread_mutex_init(&serialState->mutex"),
                 "mostly at ZSTDMT_serialState_(update|ensureFinished) ", "held since ZSTDMT_serialState_update ",
                 first=True),
            Fact("the finding names this search", "finding", r"what ZSTDMT_serialState_update\(\) does while it holds "
                 "mutex at ZSTDMT_serialState_init"),
            Fact("threads of the pools without a job are idle", "idle", "longest .* for .*cond.* POOL_create_advanced",
                 "mostly at POOL_thread "),
            Fact("that holds nothing back", "waited", "for .*cond.* POOL_create_advanced", never=True),
        ]


class Memcached(Program):
    """store_item locks the item's lock; for an append, do_store_item copies the whole value meanwhile.  All clients
    append to the same key."""

    def run(self):
        expect_loopback()
        server = Server(self.prefix(), self.path("memcached"), os.path.join(self.folder, "server"))
        try:
            append(server.port(), [b"k"] * 4, VALUE_BYTES, N_APPENDS)
            return server.end()
        finally:
            server.kill()

    def facts(self):
        return [
            Fact("workers wait for the lock of the item, which store_item holds", "waited",
                 "for mutex at memcached_thread_init " + self.place("thread.c", "pthread_mutex_init(&item_locks[i]"),
                 # Each append then takes the lock again, in item_remove, behind the next one's copy.
                 "mostly at (store_item|item_remove) ", "held since store_item ", first=True),
            Fact("the finding names the copy", "finding", r"what store_item\(\) does while it holds .*mutex(es)? at "
                 "memcached_thread_init"),
            Fact("maintenance threads wait for work, from start to end: they are idle", "idle",
                 "longest .* for (maintenance|logger_stack|lru_crawler|slab_rebalance)_cond"),
            Fact("that holds nothing back", "waited", "(maintenance|logger_stack|lru_crawler|slab_rebalance)_cond",
                 never=True),
        ]


class Leveldb(Program):
    """DBImpl::Write: one writer writes for all that queue behind it, each with a condition of its own on its stack.
    The memtable has room for all data, so that no compaction begins."""

    def command(self):
        return [self.path("db_bench"), "--db=db", "--threads=8", "--num=20000", "--value_size=200",
                "--write_buffer_size=200000000", "--benchmarks=fillrandom"]

    def facts(self):
        file = "db/db_impl.cc"
        return [
            Fact("writers queue, each with a condition of its own, for the one that writes for all", "waited",
                 r"for \d[\d,]* conds first used at leveldb::DBImpl::Write.*" + self.place(file, "w.cv.Wait();"),
                 "mostly at leveldb::DBImpl::Write", first=True),
            Fact("that main waits for the threads of the benchmark holds nothing back", "waited",
                 "mostly at .*RunBenchmark.*" + self.place("benchmarks/db_bench.cc", "shared.cv.Wait();"),
                 never=True),
        ]


class Squashfs(Program):
    """_cache_get allocates a block, and cache_block_put frees it, with the mutex of the cache locked; the mutex of a
    queue is locked only while a pointer is moved."""

    def command(self):
        return [self.path("mksquashfs"), self.input, "image", "-processors", "8", "-no-progress", "-noappend",
                "-comp", "gzip", "-Xcompression-level", "1"]

    def facts(self):
        return [
            Fact("threads wait for the mutex of a cache, which another holds in _cache_get or cache_block_put",
                 "waited", "for mutex at cache_init " +
                 self.place("squashfs-tools/caches-queues-lists.c", "pthread_mutex_init(&cache->mutex"),
                 "mostly at (_cache_get|cache_block_put) ", "held since (_cache_get|cache_block_put) "),
            Fact("threads for fragments wait for fragments, of which there are none: they are idle", "idle",
                 "longest .* for .*cond.* queue_init", "mostly at queue_get "),
            Fact("that holds nothing back", "waited", "for .*cond.* (seq_)?queue_init", never=True),
        ]


PROGRAMS = {"pbzip2": Pbzip2, "xz": Xz, "zstd": Zstd, "memcached": Memcached, "leveldb": Leveldb,
            "squashfs": Squashfs}


def main():
    build, directory, input_file = map(os.path.abspath, sys.argv[1:4])
    name = sys.argv[4]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CPUS])
    program, claims = PROGRAMS[name](build, directory, input_file), Claims(name)
    claims.check("recorded, with ten lines at most", program.record)
    for fact in program.facts():
        claims.check(f"first lines: {fact.says}", lambda fact=fact: program.check(fact))
    return claims.close()


if __name__ == "__main__":
    sys.exit(main())
