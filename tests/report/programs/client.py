# SPDX-License-Identifier: MIT
# client.py SOCKET PID N: N requests to server.c, each sent when the process PID sleeps.
import socket
import sys

path, pid, n = sys.argv[1], sys.argv[2], int(sys.argv[3])


def sleeps():
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0] == "S"


with socket.socket(socket.AF_UNIX) as server:
    server.connect(path)
    for _ in range(n):
        while not sleeps():
            pass
        server.sendall(b"x")
        assert server.recv(1) == b"x"
