#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""keys.py WORD [KEY=BYTES*TIMES...] -- COMMAND...: a program in a terminal of 50 rows of 160 characters.

Prints "first SECONDS", until WORD is on the screen; "memory KIB", the most seen of it until then that belongs to no
file; and for each KEY "KEY MS", the longest of TIMES that it was pressed until the program waits for the
next: what was typed is read, it has run, and sleeps.  BYTES are as in Python; then it is sent q."""
import codecs
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

split = sys.argv.index("--")
word, keys, command = sys.argv[1].encode(), sys.argv[2:split], sys.argv[split + 1:]
master, slave = pty.openpty()
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
began = time.perf_counter()
program = subprocess.Popen(command, stdin=slave, stdout=slave, start_new_session=True,
                           preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
                           env=dict(os.environ, TERM="xterm", LC_ALL="C.UTF-8"))
output = b""


def drain(seconds):
    global output
    while select.select([master], [], [], seconds)[0]:
        output = output[-100000:] + os.read(master, 65536)
        seconds = 0


def proc(name):
    with open(f"/proc/{program.pid}/{name}") as file:
        return file.read()


def anonymous_kib():
    return next(int(line.split()[1]) for line in proc("status").splitlines() if line.startswith("RssAnon"))


def times_run():
    return int(proc("schedstat").split()[2])


def waits():
    typed, = struct.unpack("i", fcntl.ioctl(slave, termios.FIONREAD, b"\0" * 4))
    return typed == 0 and proc("stat").rsplit(")", 1)[1].split()[0] == "S"


def press(data):
    while not waits():
        drain(0)
    runs, start = times_run(), time.perf_counter()
    os.write(master, data)
    while times_run() == runs or not waits():
        drain(0)
    return (time.perf_counter() - start) * 1000


memory = 0
while word not in output:
    drain(0.01)
    if program.poll() is not None:
        sys.exit(f"{command[0]} ended: {output[-500:]}")
    if word not in output:
        memory = max(memory, anonymous_kib())
print(f"first {time.perf_counter() - began:.3f}")
print(f"memory {memory}")
for key in keys:
    name, data = key.split("=", 1)
    data, times = data.rsplit("*", 1)
    data = codecs.decode(data, "unicode_escape").encode()
    print(f"{name} {max(press(data) for _ in range(int(times))):.1f}")
os.write(master, b"q")
while program.poll() is None:
    drain(0.01)
