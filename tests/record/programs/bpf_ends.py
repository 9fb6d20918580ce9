# SPDX-License-Identifier: MIT
"""bpf_ends.py GPROF_MT: the BPF programs, links and maps of a recording are removed after its end, and after
it was killed. /proc/PID/fdinfo has their ids; the kernel, which does not reuse ids, tells whether they still
exist."""
import ctypes
import glob
import os
import re
import signal
import subprocess
import sys
import time

SYS_BPF, DEADLINE_S = 321, 60
GET_FD_BY_ID = {"prog": 13, "map": 14, "link": 30}
libc = ctypes.CDLL(None, use_errno=True)


def until(what, check):
    end = time.monotonic() + DEADLINE_S
    while not check():
        if time.monotonic() > end:
            sys.exit("FAIL: timeout: " + what)
        time.sleep(0.01)


def owned(pid):
    """The BPF objects of its descriptors: ("prog", 7), ..."""
    found = set()
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            text = open(path).read()
        except FileNotFoundError:
            continue
        found |= {(kind, int(number)) for kind, number in re.findall(r"^(prog|map|link)_id:\s*(\d+)$", text, re.M)}
    return found


def is_there(kind, number):
    attr = (ctypes.c_uint32 * 32)(number)
    fd = libc.syscall(SYS_BPF, GET_FD_BY_ID[kind], attr, ctypes.sizeof(attr))
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def record(end):
    process = subprocess.Popen(
        [sys.argv[1], "record", "-q", "-o", "data", "--set", "kernel.source=bpf", "--set", "sync.mode=off", "--",
         "sh", "-c", "echo ready; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if process.stdout.readline() != "ready\n":
        sys.exit("FAIL: the program does not start")
    ours = owned(process.pid)
    if {kind for kind, _ in ours} != {"prog", "map", "link"} or not all(is_there(*one) for one in ours):
        sys.exit("FAIL: unexpected BPF objects during the recording: %s" % sorted(ours))
    end(process)
    process.communicate()
    until("some are left of %s" % sorted(ours), lambda: not any(is_there(*one) for one in ours))


record(lambda process: process.stdin.write("\n"))
record(lambda process: process.send_signal(signal.SIGKILL))
