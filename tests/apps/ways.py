# SPDX-License-Identifier: MIT
"""What the checks of real programs share: claims with verdicts; a program run unprofiled, with
libgmon_mt linked, with it preloaded, and with glibc's runtime; and comparing what came of it."""
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
RERUNS = 4  # of a test of theirs that differs


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


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
    """One run of a program: what it did, and where its profile is."""

    def __init__(self, status, out, err, folder):
        self.status, self.out, self.err, self.folder = status, out, err, folder
        self.capture = os.path.join(folder, "capture")

    def gmon(self):
        """The gmon.out of the only process."""
        found = [f for f in os.listdir(self.folder) if f.startswith("gmon.")]
        expect(len(found) == 1, f"{len(found)} gmon files, not one, in {self.folder}: {found[:5]}")
        return os.path.join(self.folder, found[0])

    def threads(self):
        """How many threads of the only process have counted calls."""
        pids = [p for p in os.listdir(self.capture) if p.isdigit()]
        expect(len(pids) == 1, f"{len(pids)} processes")
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
        """The same in all four, but for what makes them four.  Profiles do not go where the program
        works, since tests look at what is there."""
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
        """Runs command, whose first word is a program of the build's."""
        folder = self.folder(way)
        environment = dict(self.environment(way, folder), **more)
        path = self.path(way, command[0])
        done = subprocess.run([path, *command[1:]], env=environment, cwd=cwd or folder,
                              timeout=timeout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        err = done.stderr.replace(path.encode(), command[0].encode())  # messages have the path
        return Run(done.returncode, done.stdout, err, folder)

    def report(self, run, *sections):
        """The tables of the capture, by name."""
        done = subprocess.run([self.gprof_mt, "report", "-i", run.capture, "--format", "json",
                               *sections], capture_output=True, text=True, check=False)
        expect(done.returncode == 0, f"report: {done.stderr[-300:]}")
        return json.loads(done.stdout)

    def lost_nothing(self, run, but=()):
        """How many processes a capture has, which lacks nothing and does not contradict itself;
        `but`: rows that are known to be there."""
        rows = [r for r in self.report(run, "quality")["quality"] if r not in but]
        expect(not rows, f"{len(rows)} losses or contradictions: {rows[:3]}")
        return sum(p.isdigit() for p in os.listdir(run.capture))


def same_everywhere(app, command, outputs, make_cwd=None, **more):
    """The program does, four times, what it does unprofiled; outputs(run, cwd) says what that is.
    Nothing is lost in our captures."""
    wanted = None
    for way in WAYS:
        cwd = make_cwd(way) if make_cwd else app.folder(way + ".work")
        run = app.run(way, command, cwd=cwd, **more)
        found = (run.status, outputs(run, cwd))
        wanted = wanted or found
        expect(found == wanted, f"{way}: exit status and output differ from an unprofiled run's: "
                                f"{str(found)[:300]} {run.err[-300:]!r}")
        if way in OURS:
            app.lost_nothing(run)


def compare_results(results, again):
    """Compares {way: {test: result}} to the unprofiled ones.  A test that differs is run again, by
    again(way, test), alone, profiled and unprofiled: upstream suites have tests that fail now and
    then, and under load.  What then still passes unprofiled and not profiled fails the claim, if it
    is ours.  Returns what to say."""
    base, notes, wrong = results[UNPROFILED], [], []
    for way in results:
        expect(set(results[way]) == set(base),
               f"{way}: not the same tests: {sorted(set(results[way]) ^ set(base))[:5]}")
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
    expect(not wrong, f"{len(wrong)} tests differ: " + " | ".join(wrong))
    failed = sorted(t for t in base if base[t] not in ("ok", "skip"))
    skipped = sum(base[t] == "skip" for t in base)
    notes.insert(0, f"{len(base)} tests, {skipped} skipped, {len(failed)} failed unprofiled too" +
                 (f" ({', '.join(failed)})" if failed else ""))
    return "; ".join(notes)


def same_arcs(app, command, make_cwd=None, **more):
    """A program of one thread, of which two runs are alike: the arcs that libgmon_mt counts, linked
    and preloaded, are glibc's.  Preloaded it is the same file, so by address; linked by name."""
    program, linked_program = (Program(app.path(way, command[0])) for way in (GLIBC, LINKED))
    statuses = set()

    def one(way):
        run = app.run(way, command, cwd=make_cwd(way) if make_cwd else None, **more)
        statuses.add(run.status)
        expect(len(statuses) == 1, f"{way}: exit status {run.status}: {run.err[-300:]!r}")
        if way in OURS:
            expect(run.threads() == 1, f"{way}: {run.threads()} threads")
        return run.gmon()

    for _ in range(ATTEMPTS):
        glibc, again = (glibc_arcs(program, one(GLIBC)) for _ in range(2))
        preloaded = our_arcs(program, one(PRELOADED), glibc.low, glibc.high)
        linked = our_arcs(linked_program, one(LINKED))
        wrong = ""
        if preloaded.arcs != glibc.arcs:
            wrong = f"preloaded, not what glibc counts: {preloaded.differences(glibc)}"
        elif linked.by_name != preloaded.by_name:
            wrong = f"linked, not what it counts preloaded: {linked.differences_by_name(preloaded)}"
        if not wrong:
            return f"{len(preloaded.arcs)} arcs, {sum(preloaded.arcs.values())} calls"
        if glibc.arcs != again.arcs:
            wrong = "glibc's own counts differ from run to run"
    raise AssertionError(f"{command[1:]}: {wrong}")


def uftrace_calls(app, program, command, cwd, **more):
    """Calls by function, as uftrace counts them.  If it loses some, it is asked again."""
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
    """Counts of several runs of one tool: those that were the same in all of them."""

    def __init__(self):
        self.runs = []

    def add(self, calls):
        self.runs.append(calls)

    def count(self, name):
        """The count; None: it varies."""
        found = {run.get(name, 0) for run in self.runs}
        return found.pop() if len(found) == 1 else None

    def names(self):
        return set().union(*self.runs)


def same_as_uftrace(app, command, apart="", make_cwd=None, **more):
    """A threaded program: the calls of each function are those that uftrace counts.  The two count
    in different runs, so a function whose count varies from run to run, as which thread comes first
    decides, cannot be compared; one that seems not to vary, and yet differs, gets further runs.
    `apart`: the functions, as a pattern, of which that is known beforehand, since under uftrace
    threads are slower always, or that uftrace cannot see, since they never return."""
    program = Program(app.path(GLIBC, command[0]))
    ours, theirs = Steady(), Steady()

    def cwd():
        return make_cwd("counts") if make_cwd else app.folder("counts.work")

    def count():
        run = app.run(PRELOADED, command, cwd=cwd(), **more)
        expect(run.threads() > 1, "one thread only")
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
    expect(not differ, "differ from uftrace's: " +
           ", ".join(f"{n} {ours.count(n)}, not {theirs.count(n)}" for n in differ[:8]))
    compared = sum(ours.count(n) for n in steady)
    calls = sum(max(run.get(n, 0) for run in ours.runs) for n in names)
    expect(2 * len(steady) > len(names) and 4 * compared > calls,
           f"only {len(steady)} of {len(names)} functions, {compared} of {calls} calls, do not vary")
    return (f"{len(steady)} functions, {compared} calls; from run to run vary: " +
            (", ".join(sorted(names - steady)) or "none"))
