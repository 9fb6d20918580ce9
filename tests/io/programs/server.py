# SPDX-License-Identifier: MIT
"""Threads that sleep, poll, and talk through sockets, pipes and a child."""
import os
import select
import socket
import subprocess
import threading
import time

listener = socket.create_server(("127.0.0.1", 0))


def serve():
    connection, _ = listener.accept()
    with connection:
        while data := connection.recv(100):
            time.sleep(0.002)
            connection.sendall(data.upper())


thread = threading.Thread(target=serve)
thread.start()
with socket.create_connection(listener.getsockname()) as client:
    for word in (b"one", b"two"):
        time.sleep(0.002)
        client.sendall(word)
        select.select([client], [], [])
        print(client.recv(100))
thread.join()
print(subprocess.run(["sh", "-c", "sleep 0.01; echo child"], stdout=subprocess.PIPE, check=True).stdout)
ends = os.pipe()
threading.Timer(0.01, os.write, (ends[1], b"late")).start()
print(os.read(ends[0], 10))
