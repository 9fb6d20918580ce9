#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/sweep.py BUILD DIR: sweeps LevelDB's own benchmark, db_bench, built in DIR by tests/apps/build, over
threads and work, and checks which critical section `gprof-mt sweep` names, and where none is the cause.

  get-locked  reads from memory with the lock of the database held, as until commit e3584f9 of 2011 (blame.py)
  get         the same reads today: DBImpl::Get() releases the lock while it searches
  write       DBImpl::Write(): writers queue up, each with a condition variable; the first one writes for all, without
              the lock of the database (db/db_impl.cc: "We can release the lock during this phase")

The last line is "N passed, N failed, N skipped"."""
import json
import os
import shutil
import subprocess
import sys

from ways import Claims, Skip, expect

N_CPUS = 2
THREADS = "1,2,4"
VALUES = ["--num=10", "--value_size=1000000", "--write_buffer_size=400000000"]
LOCKED, FREE, WRITE = "get-locked", "get", "write"


class Sweep:
    """The campaign, and its tables."""

    def __init__(self, build, directory):
        self.gprof_mt, self.directory = os.path.join(build, "gprof-mt"), directory
        self.folder = os.path.join(directory, "sweep")
        self.tables = {}
        shutil.rmtree(self.folder, ignore_errors=True)
        os.makedirs(self.folder)
        self.lock = "mutex at leveldb::DB::Open " + self.line("impl->mutex_.Lock();")

    def line(self, text):
        """The place of the only line of db_impl.cc with this text."""
        with open(os.path.join(self.directory, "source/db/db_impl.cc"), encoding="utf-8") as source:
            found = [n for n, line in enumerate(source, 1) if text in line]
        expect(len(found) == 1, f"db_impl.cc: expected one line with {text}, found {found}")
        return f"(db_impl.cc:{found[0]})"

    def db_bench(self, built, *arguments):
        return " ".join([os.path.join(self.directory, built, "db_bench"), *arguments])

    def tests(self):
        database = "--db=" + os.path.join(self.folder, "values")
        subprocess.run(self.db_bench("plain", database, *VALUES, "--benchmarks=fillseq").split(), check=True,
                       capture_output=True)
        read = [database, *VALUES, "--use_existing_db=1", "--reuse_logs=1", "--benchmarks=readrandom", "--threads={t}",
                "--reads={w/t}"]
        write = ["--db=" + os.path.join(self.folder, "written"), "--benchmarks=fillrandom", "--threads={t}",
                 "--num={w/t}"]
        # Other load must not hide that the run time rises.
        return {LOCKED: (self.db_bench("before", *read), "4000..64000*4", "^readrandom .*of 10 found"),
                FREE: (self.db_bench("plain", *read), "4000,16000", "^readrandom .*of 10 found"),
                WRITE: (self.db_bench("plain", *write), "30000..480000*4", "^fillrandom .*micros/op")}

    def claim_swept(self):
        if len(os.sched_getaffinity(0)) < N_CPUS:
            raise Skip("needs two CPUs")
        plan = os.path.join(self.folder, "tests.ini")
        with open(plan, "w", encoding="utf-8") as file:
            for name, (command, workload, output) in self.tests().items():
                file.write(f"[test {name}]\ncommand={command}\nworkload={workload}\nthreads={THREADS}\n"
                           f"check=grep -q '{output}'\n")
        done = subprocess.run([self.gprof_mt, "sweep", "-q", "--runs", "5", "--demangle", "simple", "--format", "json",
                               "-o", "campaign", plan], cwd=self.folder, capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"expected exit status 0, got {done.returncode}: {done.stderr[-500:]}")
        self.tables = json.loads(done.stdout)
        failures = self.tables.get("failures", [])
        expect(not failures, f"expected no failed runs, found {failures[:3]}")

    def steps(self, name):
        return [step for step in self.tables["steps"] if step["test"] == name]

    def exposing(self, name):
        """The step of the workload that exposes a problem."""
        steps = self.steps(name)
        expect(steps and steps[-1]["verdict"] == "exposes a problem",
               f"{name}: expected a workload that exposes a problem, found " +
               str([(step["workload"], step["verdict"], step["cpu_use_pct"]) for step in steps]))
        return steps[-1]

    def sections(self, name):
        """The rows of a test, conclusive or not, with the highest metric first."""
        rows = [row for table in ("bottlenecks", "inconclusive") for row in self.tables.get(table, [])
                if row["test"] == name]
        return sorted(rows, key=lambda row: -row["mean_ns"])

    def notes(self, name):
        return [note["note"] for note in self.tables["notes"] if note["note"].startswith(name + ": ")]

    def claim_lock(self):
        """One thread reads at a time: two CPUs are of no use."""
        step, first = self.exposing(LOCKED), self.sections(LOCKED)[0]
        expect(first["lock"] == self.lock and first["entry"].startswith("leveldb::DBImpl::Get (db_impl.cc:"),
               f"expected {self.lock}, entered by DBImpl::Get, in the first row, found {first}")
        cause = f"{LOCKED}: cause: {self.lock} (mutex), entered at {first['entry']}"
        expect(any(note.startswith(cause) for note in self.notes(LOCKED)),
               f"expected the note {cause}, found {self.notes(LOCKED)}")
        return f"workload {step['workload']}, CPU use {step['cpu_use_pct']:.0f} %, others lost {first['mean_ns'] / 1e6:.0f} ms"

    def claim_scaling(self):
        """The lock is waited for by several threads, and only there."""
        rows = {row["number"]: row for row in self.tables["scalability"] if row["test"] == LOCKED}
        expect(sorted(rows) == [1, 2, 4], f"expected rows of 1, 2 and 4 threads, found {rows}")
        wanted = f"{self.lock} at leveldb::DBImpl::Get "
        expect(rows[1]["blocked_by"] is None and (rows[4]["blocked_by"] or "").startswith(wanted),
               f"expected {wanted} with 4 threads, and none with one, found {rows}")
        return f"4 threads have a speedup of {rows[4]['speedup']:.2f}"

    def claim_released(self):
        """Today, the lock is held for a small part of a read.  A campaign without a ranking has lost nothing to it."""
        lost = {name: sum(row["mean_ns"] for row in self.sections(name) if row["lock"] == self.lock) / step["workload"]
                for name, step in ((name, self.steps(name)[-1]) for name in (LOCKED, FREE))}
        expect(lost[FREE] < lost[LOCKED] / 2, f"expected half at most of the time lost to a read, found {lost} ns")
        return f"a read loses {lost[LOCKED] / 1e3:.1f} us to the lock, and today {lost[FREE] / 1e3:.1f} us"

    def claim_queue(self):
        """The cause is no critical section, and the note says so."""
        step, notes = self.exposing(WRITE), self.notes(WRITE)
        wanted = f"first used at leveldb::DBImpl::Write {self.line('w.cv.Wait();')}"
        found = [note for note in notes if "of the waits are for no critical section, most for " in note]
        expect(len(found) == 1 and wanted in found[0], f"expected a note with {wanted}, found {notes}")
        expect(not any(note.startswith(WRITE + ": cause: ") for note in notes), f"expected no cause, found {notes}")
        return f"workload {step['workload']}, CPU use {step['cpu_use_pct']:.0f} %; {found[0].split(';')[0]}"


def main():
    build, directory = map(os.path.abspath, sys.argv[1:3])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CPUS])
    sweep, claims = Sweep(build, directory), Claims("leveldb")
    claims.check("db_bench swept over threads and work", sweep.claim_swept)
    claims.check("sweep names the lock that is held while threads read", sweep.claim_lock)
    claims.check("only with several threads is it waited for", sweep.claim_scaling)
    claims.check("today's reads lose less to it", sweep.claim_released)
    claims.check("sweep says that writers wait for no critical section", sweep.claim_queue)
    return claims.close()


sys.exit(main())
