# SPDX-License-Identifier: MIT
"""io_events.py CALLS_H: turns babeltrace2's text into "NAME TID RESULT OBJECT BEGIN END PATH SITE" for each call."""
import re
import sys

with open(sys.argv[1]) as header:
    names = re.findall(r"^\tX\((\w+), \w+, \w+\)", header.read().split("#define ST_IO_CALLS(X)")[1], re.M)
line_of = re.compile(r"^\[(\d+)\] (?:\(\d+\) )?io_call: \{ tid = (\d+), index = \d+ \}, \{ (.*) \}$")
for line in sys.stdin:
    found = line_of.match(line)
    if not found:
        continue
    end, tid = int(found[1]), found[2]
    field = {key: int(value, 0) for key, value in (part.split(" = ") for part in found[3].split(", "))}
    number = field["object"] - (1 << 64 if field["object"] >> 63 else 0)
    print(names[field["call"]], tid, field["result"], number, end - field["duration"], end, field["path"], field["site"])
