# SPDX-License-Identifier: MIT
"""read_cost.py PROGRAM CAPTURE COMMAND...: runs the command on the capture. Prints the number of recorded operations,
the CPU time in s and the peak memory in MiB."""

import json
import resource
import subprocess
import sys

program, capture, command, *further = sys.argv[1:]
subprocess.run([program, command, "-i", capture, *further], stdout=subprocess.DEVNULL, check=True)
cost = resource.getrusage(resource.RUSAGE_CHILDREN)
counts = subprocess.run([program, "report", "-i", capture, "--format", "json", "sync"], capture_output=True, check=True)
print(sum(row["calls"] for row in json.loads(counts.stdout)["sync"]), cost.ru_utime + cost.ru_stime,
      cost.ru_maxrss // 1024)
