#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""keys.py [--evict FOLDER] WORD [KEY=BYTES*TIMES...] -- COMMAND...: measures a program in a terminal of 50 rows of
160 characters.

Prints "first SECONDS", the time until WORD is on the screen; "memory KIB", the largest anonymous memory until then;
and for each KEY a line "KEY MS": the key is pressed TIMES times, and MS is the longest time until the program has read
it, has run, and sleeps again.  BYTES are written as in a Python string. At the end the program gets the key q.

--evict: evicts the files in FOLDER from memory before the program begins and before each key, pages that the program
has mapped included, and checks that no page is left."""
import codecs
import ctypes
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

SYS_PROCESS_MADVISE = 440
MADV_PAGEOUT = 21

split = sys.argv.index("--")
evicted = sys.argv[2] if sys.argv[1] == "--evict" else None
word, *keys = sys.argv[3 if evicted else 1:split]
word, command = word.encode(), sys.argv[split + 1:]
libc = ctypes.CDLL(None, use_errno=True)


def forget_mappings(pid):
    """Pages out the mappings of a process: posix_fadvise() does not evict mapped pages."""
    class Range(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
    pidfd = os.pidfd_open(pid)
    with open(f"/proc/{pid}/maps") as file:
        lines = [line.split(None, 5) for line in file]
    for line in lines:
        if len(line) == 6 and line[5].startswith(os.path.realpath(evicted) + "/"):
            begin, end = (int(number, 16) for number in line[0].split("-"))
            while begin < end:
                n = libc.syscall(SYS_PROCESS_MADVISE, pidfd, ctypes.byref(Range(begin, end - begin)), 1,
                                 MADV_PAGEOUT, 0)
                if n <= 0:
                    sys.exit(f"process_madvise: {os.strerror(ctypes.get_errno())}")
                begin += n
    os.close(pidfd)


def resident_bytes(fd, size):
    libc.mmap.restype = ctypes.c_void_p
    data = libc.mmap(None, ctypes.c_size_t(size), 1, 1, fd, ctypes.c_size_t(0))
    pages = (ctypes.c_ubyte * ((size + 4095) // 4096))()
    libc.mincore(ctypes.c_void_p(data), ctypes.c_size_t(size), pages)
    libc.munmap(ctypes.c_void_p(data), ctypes.c_size_t(size))
    return bytes(pages).count(1) * 4096


def forget_files():
    """Evicts unmapped pages.  Returns the bytes still in memory: a page that was just accessed may take another try."""
    left = 0
    for folder, _, names in os.walk(evicted):
        for name in names:
            fd = os.open(os.path.join(folder, name), os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            size = os.fstat(fd).st_size
            left += resident_bytes(fd, size) if size else 0
            os.close(fd)
    return left


def evict(pid=None):
    for _ in range(1000):
        if pid:
            forget_mappings(pid)
        if not forget_files():
            return
    sys.exit(f"{evicted}: expected no page in memory after 1000 tries to evict, found some")


if evicted:
    evict()
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
    if evicted:
        evict(program.pid)
    runs, start = times_run(), time.perf_counter()
    os.write(master, data)
    while times_run() == runs or not waits():
        drain(0)
    return (time.perf_counter() - start) * 1000


memory = 0
while word not in output:
    drain(0.01)
    if program.poll() is not None:
        sys.exit(f"{command[0]}: expected {word!r} on the screen, but it ended: {output[-500:]}")
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
