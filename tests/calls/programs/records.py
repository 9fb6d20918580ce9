#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""records.py PROGRAM CAPTURE [--compare [--no-exits]]: prints the calls of a capture as babeltrace2 reads them.

Prints "TID LETTERS" for each thread, sorted: a letter for each entry of a function fX, its capital for each
exit; other functions are omitted. With --compare it prints nothing, and fails unless the letters of each
thread are those of the file log.<tid> and each such file has a thread. Fails if babeltrace2 prints a message,
if time goes back in a thread, or if a number is used before its definition."""
import glob
import os
import re
import subprocess
import sys
from collections import defaultdict

EVENT = re.compile(r"\[(\d+)\.(\d+)\] (?:\(\d+\) )?(\w+): \{ tid = (\d+), index = (\d+) \}, \{ (.*) \}$")


def functions(program):
    """[(address, end, name)] of the functions fX, from nm -S."""
    text = subprocess.run(["nm", "-S", "--defined-only", program], capture_output=True, text=True,
                          check=True).stdout
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tT" and re.fullmatch(r"(_Z2)?f[a-z]v?", words[3]):
            start = int(words[0], 16)
            yield start, start + int(words[1], 16), words[3].removeprefix("_Z2")[1]


def bias(folder):
    with open(os.path.join(folder, "maps")) as maps:
        return int(maps.readline().split(" ")[4], 16)


def letters(program, folder):
    found, arcs, elsewhere, last = defaultdict(list), {}, set(), {}
    known = [(start + bias(folder), end + bias(folder), name) for start, end, name in functions(program)]
    assert known, f"no functions in {program}"
    read = subprocess.Popen(["babeltrace2", "--clock-seconds", "--no-delta", folder + "/calls-history"],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in read.stdout:
        match = EVENT.match(line.rstrip("\n"))
        assert match, line
        seconds, fraction, event, tid, index, fields = match.groups()
        key, now = (int(tid), int(index)), int(seconds) * 10**9 + int(fraction)
        assert now >= last.get(key, 0), f"time goes back: {line}"
        last[key] = now
        values = [int(word, 0) for word in re.findall(r"= (0x[0-9A-F]+|\d+)", fields)]
        if event == "arc":
            arcs[(key, values[0])] = values[2]
            if not any(start <= values[2] < end for start, end, name in known):
                elsewhere.add(values[2] % (1 << 24))
        elif event == "call":
            address = arcs[(key, values[0])]
            found[int(tid)] += [name for start, end, name in known if start <= address < end]
        elif event == "return":
            # 24 bits of the address: those of a library function may equal those of an address in the
            # program.
            if values[0] not in elsewhere:
                found[int(tid)] += [name.upper() for start, end, name in known
                                    if (values[0] - start) % (1 << 24) < end - start]
        else:
            assert event == "time", line
    complaints = read.stderr.read()
    assert read.wait() == 0 and not complaints, complaints
    return {tid: "".join(sequence) for tid, sequence in found.items()}


def main():
    program, capture = sys.argv[1:3]
    sequences = {}
    for folder in glob.glob(os.path.join(capture, "[0-9]*")):
        if os.path.exists(folder + "/calls-history"):
            sequences.update(letters(program, folder))
    if "--compare" not in sys.argv:
        for tid, sequence in sorted(sequences.items()):
            print(tid, sequence)
        return
    logs = {int(name[4:]): open(name).read() for name in glob.glob("log.*")}
    if "--no-exits" in sys.argv:
        logs = {tid: re.sub("[A-Z]", "", log) for tid, log in logs.items()}
    assert logs, "no logs"
    assert sorted(logs) == sorted(sequences), f"threads {sorted(sequences)}, not {sorted(logs)}"
    for tid, log in logs.items():
        if log != sequences[tid]:
            at = len(os.path.commonprefix([log, sequences[tid]]))
            sys.exit(f"thread {tid}: differs from {at} of {len(log)} on: "
                     f"{sequences[tid][at:at + 40]}, not {log[at:at + 40]}")


main()
