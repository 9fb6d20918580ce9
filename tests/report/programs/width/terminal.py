#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: terminal.py COLUMNS COMMAND [ARG]...

Runs the command with a terminal of that width as its standard output, and copies what it writes there."""
import fcntl
import os
import pty
import struct
import sys
import termios

pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    attributes = termios.tcgetattr(1)
    attributes[1] &= ~termios.OPOST  # line feeds stay line feeds
    termios.tcsetattr(1, termios.TCSANOW, attributes)
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        data = os.read(terminal, 65536)
    except OSError:  # EIO: the command has closed the terminal
        break
    if not data:
        break
    sys.stdout.buffer.write(data)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
