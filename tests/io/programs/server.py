# SPDX-License-Identifier: MIT
"""Threads that sleep, poll, and talk through sockets, pipes and a child; each waits until the other one is blocked."""
import os
import select
import socket
import subprocess
import threading
import time

READ, SELECT, RECVFROM, PSELECT, ACCEPT4 = 0, 23, 45, 270, 288  # system calls of x86-64


def until_blocked(tid, *calls):
    """Waits until the thread is blocked in one of these system calls, and a moment longer."""
    number = ""
    while number not in map(str, calls):
        time.sleep(0.0002)
        with open(f"/proc/self/task/{tid}/syscall") as file:
            number = file.read().split()[0]
    time.sleep(0.002)


main = threading.get_native_id()
listener = socket.create_server(("127.0.0.1", 0))


def serve():
    connection, _ = listener.accept()
    with connection:
        while data := connection.recv(100):
            until_blocked(main, SELECT, PSELECT)
            connection.sendall(data.upper())


def write_late(end):
    until_blocked(main, READ)
    os.write(end, b"late")


thread = threading.Thread(target=serve)
thread.start()
until_blocked(thread.native_id, ACCEPT4)
with socket.create_connection(listener.getsockname()) as client:
    for word in (b"one", b"two"):
        until_blocked(thread.native_id, RECVFROM)
        client.sendall(word)
        select.select([client], [], [])
        print(client.recv(100))
thread.join()
print(subprocess.run(["sh", "-c", "sleep 0.01; echo child"], stdout=subprocess.PIPE, check=True).stdout)
ends = os.pipe()
thread = threading.Thread(target=write_late, args=(ends[1],))
thread.start()
print(os.read(ends[0], 10))
thread.join()
