#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/fidelity.py BUILD DIR INPUT NAME: records NAME, built in DIR/plain by tests/apps/build, with the
workload of findings.py, replays the run by each engine, and prints how far the replays are from the recorded time.
Times depend on the machine and on what else it does, so only the replays' success is checked.  The last line is
"N passed, N failed, N skipped"."""
import os
import re
import subprocess
import sys

from findings import N_CPUS, PROGRAMS
from memcached import DEADLINE_S
from ways import Claims, expect

ENGINES = ("simulation", "skeleton")


class Replays:
    def __init__(self, program):
        self.program = program

    def record(self):
        prefix = self.program.prefix()
        self.program.prefix = lambda: prefix[:-1] + ["--set", "sync.mode=all", "--"]
        status, text = self.program.run()
        expect(status == 0, f"expected exit status 0, got {status}: {text[-500:]}")

    def replay(self, engine):
        """Returns how far the engine is from the recorded time."""
        done = subprocess.run([self.program.gprof_mt, "replay", f"--engine={engine}", self.program.capture],
                              capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        expect(done.returncode == 0, f"expected exit status 0, got {done.returncode}: {done.stderr[-500:]}")
        expect("for ever" not in done.stdout, done.stdout)
        notes = re.findall(r"note: ((?:fidelity|other programs).*)", done.stdout)
        expect(notes and notes[0].startswith("fidelity"), f"expected the fidelity, found {done.stdout}")
        return "; ".join(notes)


def main():
    build, directory, input_file = map(os.path.abspath, sys.argv[1:4])
    name = sys.argv[4]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CPUS])
    replays, claims = Replays(PROGRAMS[name](build, directory, input_file)), Claims(name)
    claims.check("recorded, to be replayed", replays.record)
    for engine in ENGINES:
        claims.check(f"replayed by the {engine}", lambda engine=engine: replays.replay(engine))
    return claims.close()


if __name__ == "__main__":
    sys.exit(main())
