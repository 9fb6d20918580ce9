# SPDX-License-Identifier: MIT
"""Shared code of the checks of real programs: claims with verdicts; runs of a program unprofiled, with
libgmon_mt linked, with libgmon_mt preloaded, and with glibc's runtime; and comparisons of the results."""
import json
import os
import re
import shutil
import subprocess
import time

from gmon import Program, glibc_arcs, our_arcs

UNPROFILED, LINKED, PRELOADED, GLIBC = WAYS = ("unprofiled", "linked", "preloaded", "glibc")
SYNCED = "with libsync_trace preloaded"
OURS = (LINKED, PRELOADED, SYNCED)
BINARIES = {UNPROFILED: "plain", LINKED: "linked", PRELOADED: "glibc", GLIBC: "glibc", SYNCED: "plain"}
ATTEMPTS = 3
RERUNS = 4  # of an upstream test whose result differs


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def place(path, text):
    """Returns a pattern for the places of the lines of a source file that contain this text."""
    with open(path, encoding="utf-8") as source:
        found = [str(n) for n, line in enumerate(source, 1) if text in line]
    expect(found, f"{path}: expected the line {text}, found none")
    return rf"\({re.escape(os.path.basename(path))}:({'|'.join(found)})\)"


class Skip(Exception):
    """Raised by a claim that this machine cannot examine."""


class Claims:
    def __init__(self, program):
        self.program = program
        self.passed = self.failed = self.skipped = 0

    def check(self, name, claim):
        start = time.monotonic()
        try:
            note = claim() or ""
            verdict = "PASS"
            self.passed += 1
        except Skip as reason:
            note, verdict = str(reason), "SKIP"
            self.skipped += 1
        except Exception as error:  # a claim that cannot be examined does not hold
            note = f"{type(error).__name__}: {error}".strip()
            verdict = "FAIL"
            self.failed += 1
        seconds = time.monotonic() - start
        print(f"{verdict} apps/{self.program} {name} ({seconds:.2f} s){': ' if note else ''}{note}",
              flush=True)

    def close(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 0 if self.passed and not self.failed else 1


class Run:
    """One run of a program: its exit status and output, and the folder with its profile."""

    def __init__(self, status, out, err, folder):
        self.status, self.out, self.err, self.folder = status, out, err, folder
        self.capture = os.path.join(folder, "capture")

    def gmon(self):
        """Returns the path of the gmon file; expects one process."""
        found = [f for f in os.listdir(self.folder) if f.startswith("gmon.")]
        expect(len(found) == 1, f"{self.folder}: expected one gmon file, found {len(found)}: {found[:5]}")
        return os.path.join(self.folder, found[0])

    def threads(self):
        """Returns how many threads have counted calls; expects one process."""
        pids = [p for p in os.listdir(self.capture) if p.isdigit()]
        expect(len(pids) == 1, f"{self.capture}: expected one process, found {len(pids)}")
        return sum(f.startswith("gmon.") for f in os.listdir(os.path.join(self.capture, pids[0])))


class App:
    """A program built by tests/apps/build: folders plain, glibc and linked below `directory`."""

    def __init__(self, build, directory):
        self.build, self.directory = os.path.abspath(build), os.path.abspath(directory)
        self.library = os.path.join(self.build, "libgmon_mt.so")
        self.gprof_mt = os.path.join(self.build, "gprof-mt")
        self.runs = os.path.join(self.directory, "runs")
        shutil.rmtree(self.runs, ignore_errors=True)
        os.makedirs(self.runs)
        self.n_runs = 0

    def path(self, way, program):
        return os.path.join(self.directory, BINARIES[way], program)

    def environment(self, way, folder):
        """The environment differs between the ways only in the preloaded library.  Profiles do not go to the
        working directory, since tests check its contents."""
        conf = os.path.join(folder, "gprof-mt.conf")
        with open(conf, "w", encoding="ascii") as file:
            file.write(f"[output]\ndir = {folder}/capture\nexisting = join\n")
        env = dict(os.environ, GPROF_MT_CONFIG=conf, GMON_OUT_PREFIX=os.path.join(folder, "gmon"))
        env.pop("LD_PRELOAD", None)
        if way == PRELOADED:
            env["LD_PRELOAD"] = self.library
        if way == SYNCED:
            env["LD_PRELOAD"] = os.path.join(self.build, "libsync_trace.so")
        return env

    def folder(self, label):
        self.n_runs += 1
        path = os.path.join(self.runs, f"{self.n_runs}.{label}")
        os.makedirs(path)
        return path

    def run(self, way, command, cwd=None, timeout=900, **more):
        """Runs command, whose first word is a program of the build."""
        folder = self.folder(way)
        environment = dict(self.environment(way, folder), **more)
        path = self.path(way, command[0])
        done = subprocess.run([path, *command[1:]], env=environment, cwd=cwd or folder,
                              timeout=timeout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        err = done.stderr.replace(path.encode(), command[0].encode())  # messages contain the path, which differs
        return Run(done.returncode, done.stdout, err, folder)

    def report(self, run, *sections):
        """Returns the tables of the capture by name."""
        done = subprocess.run([self.gprof_mt, "report", "-i", run.capture, "--format", "json",
                               *sections], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"report: expected exit status 0, got {done.returncode}: {done.stderr[-300:]}")
        return json.loads(done.stdout)

    def lost_nothing(self, run, but=()):
        """Checks that the capture has no losses or contradictions, except the rows `but`.  Returns the number
        of its processes."""
        rows = [r for r in self.report(run, "quality")["quality"] if r not in but]
        expect(not rows, f"expected no losses or contradictions, found {len(rows)}: {rows[:3]}")
        return sum(p.isdigit() for p in os.listdir(run.capture))


def same_everywhere(app, command, outputs, make_cwd=None, **more):
    """Runs the program in all four ways and expects the results of the unprofiled run: its exit status and
    outputs(run, cwd).  Expects no losses in our captures."""
    wanted = None
    for way in WAYS:
        cwd = make_cwd(way) if make_cwd else app.folder(way + ".work")
        run = app.run(way, command, cwd=cwd, **more)
        found = (run.status, outputs(run, cwd))
        wanted = wanted or found
        expect(found == wanted, f"{way}: expected the unprofiled exit status and output {str(wanted)[:300]}, "
                                f"got {str(found)[:300]} {run.err[-300:]!r}")
        if way in OURS:
            app.lost_nothing(run)


def compare_results(results, again):
    """Compares {way: {test: result}} to the unprofiled results.  again(way, test) runs a test that differs
    again, alone, profiled and unprofiled, because upstream suites have tests that sometimes fail, and
    that fail under load.  If a test still differs, the claim fails, except with glibc's runtime.  Returns a
    note with the differences."""
    base, notes, wrong = results[UNPROFILED], [], []
    for way in results:
        expect(set(results[way]) == set(base),
               f"{way}: expected the same tests as unprofiled, found a difference in "
               f"{sorted(set(results[way]) ^ set(base))[:5]}")
        for test in sorted(base):
            if results[way][test] == base[test]:
                continue
            found = f"{test}: {results[way][test]} {way}, {base[test]} unprofiled"
            if results[way][test] == "ok":
                notes.append(found)
                continue
            for _ in range(RERUNS):
                profiled, plain = again(way, test), again(UNPROFILED, test)
                found += f"; again {profiled}, {plain}"
                if profiled == plain:
                    break
            else:
                if way in OURS:
                    wrong.append(found)
                else:
                    found += " (glibc's runtime, not ours)"
            notes.append(found)
    expect(not wrong, f"expected the unprofiled results, found {len(wrong)} tests that differ: " + " | ".join(wrong))
    failed = sorted(t for t in base if base[t] not in ("ok", "skip"))
    skipped = sum(base[t] == "skip" for t in base)
    notes.insert(0, f"{len(base)} tests, {skipped} skipped, {len(failed)} failed unprofiled too" +
                 (f" ({', '.join(failed)})" if failed else ""))
    return "; ".join(notes)


def same_arcs(app, command, make_cwd=None, **more):
    """For a program with one thread and the same calls in each run: libgmon_mt, linked and preloaded, counts
    the same arcs as glibc.  The preloaded run uses the same file as glibc's and is compared by address, the
    linked one by name."""
    program, linked_program = (Program(app.path(way, command[0])) for way in (GLIBC, LINKED))
    statuses = set()

    def one(way):
        run = app.run(way, command, cwd=make_cwd(way) if make_cwd else None, **more)
        statuses.add(run.status)
        expect(len(statuses) == 1, f"{way}: expected one exit status in all runs, got {sorted(statuses)}: "
                                   f"{run.err[-300:]!r}")
        if way in OURS:
            expect(run.threads() == 1, f"{way}: expected one thread, found {run.threads()}")
        return run.gmon()

    for _ in range(ATTEMPTS):
        glibc, again = (glibc_arcs(program, one(GLIBC)) for _ in range(2))
        preloaded = our_arcs(program, one(PRELOADED), glibc.low, glibc.high)
        linked = our_arcs(linked_program, one(LINKED))
        wrong = ""
        if preloaded.arcs != glibc.arcs:
            wrong = f"preloaded, expected the arcs that glibc counts: {preloaded.differences(glibc)}"
        elif linked.by_name != preloaded.by_name:
            wrong = f"linked, expected the arcs counted when preloaded: {linked.differences_by_name(preloaded)}"
        if not wrong:
            return f"{len(preloaded.arcs)} arcs, {sum(preloaded.arcs.values())} calls"
        if glibc.arcs != again.arcs:
            wrong = "glibc's own counts differ from run to run"
    raise AssertionError(f"{command[1:]}: {wrong}")


def uftrace_calls(app, program, command, cwd, **more):
    """Returns the calls by function that uftrace counts.  Repeats the recording if uftrace loses records."""
    if not shutil.which("uftrace"):
        raise Skip("uftrace is not installed")
    for _ in range(ATTEMPTS):
        folder = app.folder("uftrace")
        data = os.path.join(folder, "data")
        try:
            done = subprocess.run(["uftrace", "record", "-d", data, "--no-libcall", "--no-event",
                                   "--no-pager", "-b", "1m", app.path(GLIBC, command[0]),
                                   *command[1:]], cwd=cwd(), stdin=subprocess.DEVNULL, timeout=300,
                                  env=dict(app.environment(GLIBC, folder), **more),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        except subprocess.TimeoutExpired:
            raise Skip("uftrace does not end here") from None
        text = subprocess.run(["uftrace", "report", "-d", data, "--no-pager", "--demangle=no", "-f",
                               "call", "-s", "call"], capture_output=True, text=True, check=False)
        shutil.rmtree(data, ignore_errors=True)
        if b"LOST" not in done.stderr and "LOST" not in text.stderr:
            break
    else:
        raise Skip("uftrace loses records here")
    calls = {}
    for count, name in re.findall(r"^ +(\d+)  (\S+)$", text.stdout, re.M):
        calls[program.alias(name)] = calls.get(program.alias(name), 0) + int(count)
    if not calls:
        raise Skip(f"uftrace records nothing here: {(done.stderr.decode() + text.stderr)[-200:]!r}")
    return calls


class Steady:
    """Counts of several runs of one tool; finds those that are the same in all runs."""

    def __init__(self):
        self.runs = []

    def add(self, calls):
        self.runs.append(calls)

    def count(self, name):
        """Returns the count, or None if it varies."""
        found = {run.get(name, 0) for run in self.runs}
        return found.pop() if len(found) == 1 else None

    def names(self):
        return set().union(*self.runs)


def same_as_uftrace(app, command, apart="", make_cwd=None, **more):
    """For a threaded program: libgmon_mt counts the same calls of each function as uftrace.  The two tools count
    in different runs.  Therefore functions whose counts vary from run to run, with the order of the threads,
    are not compared, and there are more runs if a count differs that has not varied so far.  `apart` is a
    pattern of functions that are never compared: their counts are known to differ because threads are always
    slower under uftrace, or uftrace does not see them because they never return."""
    program = Program(app.path(GLIBC, command[0]))
    ours, theirs = Steady(), Steady()

    def cwd():
        return make_cwd("counts") if make_cwd else app.folder("counts.work")

    def count():
        run = app.run(PRELOADED, command, cwd=cwd(), **more)
        expect(run.threads() > 1, f"expected several threads, found {run.threads()}")
        ours.add(our_arcs(program, run.gmon()).calls)
        theirs.add(uftrace_calls(app, program, command, cwd, **more))

    count()
    for _ in range(5):
        count()
        names = {n for n in ours.names() | theirs.names() if not re.fullmatch(apart, n)}
        steady = {n for n in names if None not in (ours.count(n), theirs.count(n))}
        differ = sorted(n for n in steady if ours.count(n) != theirs.count(n))
        if not differ:
            break
    expect(not differ, "expected uftrace's counts: " +
           ", ".join(f"{n}: expected {theirs.count(n)}, found {ours.count(n)}" for n in differ[:8]))
    compared = sum(ours.count(n) for n in steady)
    calls = sum(max(run.get(n, 0) for run in ours.runs) for n in names)
    expect(2 * len(steady) > len(names) and 4 * compared > calls,
           f"expected steady counts of half of the functions and a quarter of the calls, found {len(steady)} of "
           f"{len(names)} functions, {compared} of {calls} calls")
    return (f"{len(steady)} functions, {compared} calls; from run to run vary: " +
            (", ".join(sorted(names - steady)) or "none"))
