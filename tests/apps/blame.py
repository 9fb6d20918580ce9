#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/apps/blame.py BUILD DIR INPUT NAME: records NAME with a lock that is hot, and without (pairs.py).  Checks that
the summary's finding is the lock, that `report blame` begins with the lock, the place that holds it and the path to
this place, and that `diff` shows that they are gone.  The last line is "N passed, N failed, N skipped"."""
import json
import os
import re
import sys

from pairs import AFTER, BEFORE, BLAMED, N_CPUS
from ways import Claims, expect

GONE = 0.2  # of before, the place may be blamed for so much afterwards


class Blame:
    def __init__(self, program):
        self.program = program

    def tables(self, *command):
        return json.loads(self.program.read(*command, "--format", "json", "blame"))

    def claim_finding(self):
        """Not the cause in words: under load, the holder is preempted."""
        text = self.program.read("report", "-i", self.program.capture(BEFORE), "summary")
        found = re.search(r"^  finding (.*?)\n  \w", text, re.M | re.S)
        expect(found, f"expected a finding, found {text[:500]}")
        finding = " ".join(found[1].split())
        expect(re.search(self.program.lock.lstrip("^"), finding), f"expected {self.program.lock}, found {finding}")
        return finding.split(":")[0]

    def is_culprit(self, row, name):
        return (row["kind"] == "holder" and re.search(self.program.lock, row[name]) and
                re.search(self.program.site, row.get("site") or ""))

    def claim_first(self):
        """The row of the lock's hand-overs may precede: they take long if other programs use the CPUs.  So may that of
        releases without a path: those of a thread that locks before one that another thread woke has run."""
        rows = self.tables("report", "-i", self.program.capture(BEFORE))["blame"]
        first = rows[0]
        expect(re.search(self.program.lock, first["name"]), f"expected {self.program.lock} in the first row, found {first}")
        for key in "site", "path":
            first = [row for row in rows if row[key]][0]
            expect(self.is_culprit(first, "name"), f"expected {self.program.lock} and {self.program.site} in the first row with a "
                                                   f"{key}, found {first}")
        expect(re.search(self.program.path, first["path"]), f"expected {self.program.path} in the first path, found {first}")
        return f"{first['wait_ns'] / 1e6:.0f} ms, row {rows.index(first) + 1}"

    def claim_gone(self):
        """Rows of idle waits may precede: they are as long as the program runs."""
        rows = [row for row in self.tables("diff", self.program.capture(BEFORE), self.program.capture(AFTER))["blame"]
                if row.get("site") and any(row.get("wait_ns_" + run) != row.get("idle_ns_" + run) for run in "ab")]
        expect(self.is_culprit(rows[0], "group"), f"expected the lock and the place in the first row with a call that "
                                                  f"is not idle, found {rows[0]}")
        culprits = [row for row in rows if self.is_culprit(row, "group")]
        before, after = (sum(row.get(key) or 0 for row in culprits) for key in ("wait_ns_a", "wait_ns_b"))
        expect(after <= GONE * before, f"expected {GONE:.0%} of {before} ns at most afterwards, found {after} ns")
        return f"{before / 1e6:.0f} ms before, {after / 1e6:.1f} ms after"


def main():
    build, directory, input_file = map(os.path.abspath, sys.argv[1:4])
    name = sys.argv[4]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:N_CPUS])
    program, claims = BLAMED[name](build, directory, input_file, "blame"), Claims(name)
    blame = Blame(program)
    claims.check("recorded with its hot lock, and without", program.record)
    claims.check("the summary's finding is the hot lock", blame.claim_finding)
    claims.check("report blame begins with the hot lock, its holder's place and path", blame.claim_first)
    claims.check("diff shows that it is gone", blame.claim_gone)
    return claims.close()


sys.exit(main())
