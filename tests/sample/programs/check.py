#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the samples of a capture's <pid> folder against the program's own clocks.

check.py ratio FOLDER OUTPUT     ratio.c: as many samples as CPU time, in the proportion of its use
check.py total FOLDER USED ALL   all threads: samples and missed periods add up to the CPU time that
                                 they used, and to no more than the process used
check.py same FLAT [INDEX NAME S]...  self times, from `report --format json flat` in FLAT, are S
check.py none FLAT WHY           the report has no times, and gives the reason
check.py sampled FLAT N          at least N processes have samples
check.py only FLAT NAME OTHER    NAME has samples and OTHER has none

Written from format.h, as a witness beside the report. All bounds are derived from counts: a sample hits a
function with the probability of the function's share of the time; the bounds are six sigma and a margin for
the distance between clock readings."""
import json
import math
import os
import struct
import sys

HEADER_BYTES, SLOT_BYTES, SAMPLES = 8192, 128, 4


def threads(folder):
    data = open(os.path.join(folder, "threads"), "rb").read()
    n, = struct.unpack_from("<I", data, 20)
    period, _, state = struct.unpack_from("<QQI", data, 88)
    assert state == 1 and period > 0, f"no samples: state {state}, period {period}"
    missed, late = {}, {}
    for i in range(n):
        at = HEADER_BYTES + SLOT_BYTES * i
        missed[i], error, _, _, late[i] = struct.unpack_from("<QHBBI", data, at + 112)
        assert error == 0, f"thread {i}: no timer: {os.strerror(error)}"
    return period, missed, late


def samples(folder):
    """index -> {address: count}"""
    data, at, tables = open(os.path.join(folder, "calls"), "rb").read(), 0, []
    while at < len(data) and data[at:at + 64] != bytes(64):
        magic, _, header, slot, n, index, _, chunk, _, flags = struct.unpack_from(
            "<8s6I2QI", data, at)
        if magic == b"GMTCALLS" and flags & SAMPLES:
            arcs = [struct.unpack_from("<3Q", data, at + header + slot * i) for i in range(n)]
            tables.append((index, flags & 1, arcs))
        at += chunk
    dense, found = {index for index, is_dense, _ in tables if is_dense}, {}
    for index, is_dense, arcs in tables:
        if is_dense or index not in dense:
            for source, address, count in arcs:
                if address:
                    assert source == 0, "a sample with a caller"
                    counts = found.setdefault(index, {})
                    counts[address] = counts.get(address, 0) + count
    return found


def near(what, got, wanted, slack):
    assert abs(got - wanted) <= slack, f"{what}: expected {wanted:.1f} +- {slack:.1f}, got {got}"


def ratio(folder, output):
    period, missed, late = threads(folder)
    by_thread = samples(folder)
    flat = json.load(open("flat.json"))["functions"]
    *lines, process_cpu = open(output)
    all_due = 0
    for line in lines:
        index, cpu, in_a, in_b = map(int, line.split())
        n = sum(by_thread.get(index, {}).values())
        due = cpu / period
        assert n + missed[index] >= due - 2, f"thread {index}: {n} and {missed[index]} of {due}"
        assert n >= due / 3, f"thread {index}: only {n} samples of {due}"
        all_due += n + missed[index]
        assert late[index] < n, f"thread {index}: {late[index]} of {n} samples are late"
        rows = {row["name"]: row for row in flat if row["index"] == index}
        a, b = rows["a"]["samples"], rows["b"]["samples"]
        assert sum(row["samples"] for row in rows.values()) == n, "the report's sum"
        for row in rows.values():
            assert row["sample_period_ns"] == period, row
            near(row["name"], row["self_s"], row["samples"] * period / 1e9, 1e-6)
        p = in_a / (in_a + in_b)
        spread = 1 if late[index] == 0 else 2 * n / (n - late[index])  # several samples at one address
        near(f"thread {index}: samples in a", a, p * (a + b),
             6 * math.sqrt((a + b) * p * (1 - p) * spread) + 0.02 * (a + b) + 1)
    most = int(process_cpu) / period + len(lines)
    assert all_due <= most, f"samples and missed: {all_due}, and CPU time for {most}"


def total(folder, used, process_cpu):
    period, missed, _ = threads(folder)
    n = sum(sum(counts.values()) for counts in samples(folder).values())
    least, most, got = int(used) / period, int(process_cpu) / period, n + sum(missed.values())
    assert least - 6 * math.sqrt(least) <= got <= most + 6 * math.sqrt(most), (least, got, most)


def same(flat, *wanted):
    functions = json.load(open(flat))["functions"]
    for index, name, seconds in zip(*[iter(wanted)] * 3):
        rows = [row for row in functions
                if row["name"] == name and (index == "all" or row["index"] == int(index))]
        near(f"{name} of {index}, as gprof has it", float(seconds),
             sum(row["self_s"] for row in rows), 0.0151)


def sampled(flat, n):
    found = {row["pid"] for row in json.load(open(flat))["functions"] if row["samples"]}
    assert len(found) >= int(n), f"samples of {found} alone"


def only(flat, name, other):
    found = {row["name"]: row["samples"] for row in json.load(open(flat))["functions"]}
    assert found[name] > 0 and found.get(other, 0) == 0, found


def none(flat, why):
    report = json.load(open(flat))
    assert report["functions"], "no functions"
    for row in report["functions"]:
        assert row["self_s"] is None and row["samples"] is None, row
    assert any(why in note["note"] for note in report["notes"]), report["notes"]


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
