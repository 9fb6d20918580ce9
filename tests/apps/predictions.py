#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/predictions.py BUILD DIR INPUT NAME: predicts by `gprof-mt replay`, from a recording of NAME with a lock
that its authors have removed (pairs.py), what this brings, and runs the program with the lock and without in turn.
Prints the predicted and the real change, and the fidelity.  Run times depend on the machine and its load, so they are
printed, and only a great effect must be seen.  The last line is "N passed, N failed, N skipped"."""
import json
import os
import re
import statistics
import sys

from pairs import BEFORE, N_CPUS, PREDICTED, RUNS
from ways import Claims, expect

N_RUNS = 5
GREAT = -40  # a real change in percent, of which the prediction must see some
SEEN = -5


class Prediction:
    def __init__(self, program):
        self.program = program
        program.settings = (*program.settings, "sync.mode=all")

    def record(self):
        self.program.run(BEFORE, self.program.prefix(BEFORE))
        self.seconds = {run: [] for run in RUNS}
        for _ in range(N_RUNS):
            for run in RUNS:
                self.seconds[run].append(self.program.run(run))

    def claim(self):
        text = self.program.read("replay", "--format", "json", "--what-if", self.program.change,
                                 self.program.capture(BEFORE))
        row = json.loads(text)["replays"][0]
        said = self.program.read("replay", self.program.capture(BEFORE))
        fidelity = re.search(r"fidelity: .*: ([-+.0-9]+) %", " ".join(said.split()))
        expect(fidelity, f"expected the fidelity, found {said}")
        before, after = (statistics.median(self.seconds[run]) for run in RUNS)
        real, predicted = 100 * (after / before - 1), row["change_pct"]
        expect(real > GREAT or predicted < SEEN,
               f"expected to see something of the change of {real:.0f} %, found {predicted:.1f} %")
        return (f"predicted {predicted:+.1f} % +/- {row['change_error_pct']:.1f}, real {real:+.1f} % ({before:.2f} s, "
                f"{after:.2f} s), fidelity {fidelity[1]} %, load {os.getloadavg()[0]:.1f}")


def main():
    build, directory, input_file = map(os.path.abspath, sys.argv[1:4])
    name = sys.argv[4]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CPUS])
    claims = Claims(name)
    for make in PREDICTED[name]:
        prediction = Prediction(make(build, directory, input_file, "predictions"))
        claims.check(f"{make.__name__}: recorded with its lock, and run with and without", prediction.record)
        claims.check(f"{make.__name__}: prediction and truth", prediction.claim)
    return claims.close()


sys.exit(main())
