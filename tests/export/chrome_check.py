# SPDX-License-Identifier: MIT
"""chrome_check.py FILE: speedscope has the slices that the file has, on the same tracks."""
import collections
import json
import os
import subprocess
import sys

tests, packages = (os.path.join(os.environ[v], "tests/export") for v in ("GM_TOP", "GM_BUILD"))
with open(sys.argv[1]) as file:
    events = json.load(file)["traceEvents"]
read = json.loads(subprocess.run(["node", os.path.join(tests, "speedscope.js"), packages, sys.argv[1]], check=True,
                                 stdout=subprocess.PIPE).stdout)
want, got, begun = collections.Counter(), collections.Counter(), []
for event in events:
    if event["ph"] == "B":
        begun.append(event)
    elif event["ph"] == "E":
        length = event["ts"] - begun.pop()["ts"]
        if length > 0:
            want[event["tid"], event["name"], round(length * 1000)] += 1
for profile in read:
    assert profile["unit"] == "microseconds", profile["unit"]
    for _, name, start, end in profile["calls"]:
        # Its frames are named with the arguments.
        got[int(profile["name"].rsplit("(tid ", 1)[1][:-1]), name.split(" {")[0], round((end - start) * 1000)] += 1
if got != want or not want:
    sys.exit(f"speedscope has {sorted((got - want).items())[:10]}\nnot {sorted((want - got).items())[:10]}")
