# SPDX-License-Identifier: MIT
"""usage: on_terminal.py COMMAND...: runs it with stderr on a terminal of its own; prints what that receives.  Its
stdout goes to the file `out`."""
import os
import pty
import subprocess
import sys

master, slave = pty.openpty()
with open("out", "wb") as out, subprocess.Popen(sys.argv[1:], stdout=out, stderr=slave) as child:
    os.close(slave)
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        sys.stdout.buffer.write(data)
sys.exit(child.returncode)
