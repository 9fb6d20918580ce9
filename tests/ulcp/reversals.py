# SPDX-License-Identifier: MIT
"""reversals.py SEED: prints two random sections for `reversals vars`. reversals.py SEED FILE: checks the result of
reversing them, in JSON, against an execution of both orders."""
import json
import random
import sys

N_VARS = 4


def section(draw):
    return "".join(draw.choice("+=*^|>") + str(draw.randrange(2 if draw.random() < 0.7 else N_VARS)) +
                   str(draw.randrange(N_VARS)) for _ in range(draw.randrange(1, 4)))


def execute(ops, values):
    """Executes a section; returns the variables that it reads, and those that it writes."""
    reads, writes = set(), set()
    for i in range(0, len(ops), 3):
        op, var, operand = ops[i], int(ops[i + 1]), int(ops[i + 2])
        if op != "=":
            reads.add(var)
        if op == ">":
            values[operand] = values[var]
            writes.add(operand)
            continue
        old = values[var]
        values[var] = {"+": old + operand, "=": operand, "*": old * operand, "^": old ^ operand, "|": old | operand}[op]
        writes.add(var)
    return reads, writes


def in_order(sections):
    values = list(range(1, N_VARS + 1))
    before = list(values)
    accesses = []
    for ops in sections:
        start = list(values)
        reads, writes = execute(ops, values)
        accesses.append((reads, writes, {var for var in writes if values[var] != start[var]}))
    assert before == list(range(1, N_VARS + 1))
    return values, accesses


def expected(first, second):
    """None: no byte contends; else the result."""
    left, ((reads_a, writes_a, changed_a), (reads_b, writes_b, changed_b)) = in_order((first, second))
    both = (writes_a & (reads_b | writes_b)) | (writes_b & reads_a)
    contending = both & (changed_a | changed_b)
    if not contending:
        return None
    if contending - writes_a or contending - writes_b:
        return "true"
    return "benign" if left == in_order((second, first))[0] else "true"


draw = random.Random(int(sys.argv[1]))
sections = section(draw), section(draw)
if len(sys.argv) == 2:
    print(*sections)
else:
    rows = json.load(open(sys.argv[2]))["ulcp_reversals"]
    results = [row["result"] for row in rows if row["first"].startswith("run_vars ")]
    # Before them, both threads add to counters.
    assert not [row for row in rows if row["different"] and not row["first"].startswith("run_vars ")], rows
    wanted = expected(*sections)
    print(*sections, wanted)
    assert results == ([] if wanted is None else [wanted]), (results, wanted)
