#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile.py CAPTURE member READY GO | hostile.py CAPTURE outsider | hostile.py CAPTURE greedy

Sends requests that must be refused to the `record` of CAPTURE (runtime/capture/recorder.h), and prints
their number.  A member is a process of the recording and knows its secret; it also sends requests that
must be granted.  It writes a line to READY when it is done, and waits for a line from GO.

A greedy member extends one of its files to 100 MiB, and requests files until one is refused."""
import array
import errno
import os
import socket
import struct
import sys

WORD, OPEN, MKDIR, RENAME, UNLINK, REMOVE = range(1, 7)
MAGIC = 0x32726F772D746D67
REFUSED = -errno.EBADRQC


def address(capture):
    value = 0xCBF29CE484222325
    for byte in f"{capture}/config".encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"\0gprof-mt/record/{value:016x}"


def send(capture, data):
    """Returns the reply and its descriptor; None if record closed the connection."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(address(capture))
        connection.send(data)
        try:
            reply, control, _, _ = connection.recvmsg(64, socket.CMSG_SPACE(4))
        except ConnectionResetError:
            return None
    fds = array.array("i")
    for _, _, content in control:
        fds.frombytes(content[:4])
    return (reply, fds[0] if fds else None) if reply else None


def ask(capture, proof, kind, name="", to="", flags=0, code=0):
    """Returns the code of the reply; 1 if it has a descriptor."""
    data = struct.pack("<QQQiiii80s80s", MAGIC, *proof, kind, code, flags, 0, name.encode(), to.encode())
    answer = send(capture, data)
    if answer is None:
        return None
    reply, fd = answer
    if fd is not None:
        os.close(fd)
        return 1
    return struct.unpack("<QQq", reply)[2]


def must_refuse(capture, requests):
    n = 0
    for proof, request in requests:
        code = ask(capture, proof, *request)
        if code != REFUSED:
            sys.exit(f"{request}: expected a refusal, found {code}")
        n += 1
    return n


def secret(capture):
    with open(f"{capture}/session", encoding="ascii") as session:
        words = session.read().split("\nsecret ")[1].split()
    return tuple(int(word) for word in words[:2])


def member(capture):
    proof, own = secret(capture), str(os.getpid())
    other = next(name for name in os.listdir(capture) if name.isdigit() and name != own)
    append = os.O_RDWR | os.O_CREAT | os.O_APPEND
    os.symlink("/etc/passwd", f"{capture}/{own}/user/stream_70")
    for request, wanted in (((OPEN, f"{own}/maps", "", append), 1),
                            ((OPEN, f"{other}/maps", "", os.O_RDONLY), 1),
                            ((OPEN, f"{own}/user/stream_70", "", os.O_RDWR), -errno.ELOOP),
                            ((OPEN, f"{own}/user", "", os.O_RDWR), -errno.EISDIR),
                            ((OPEN, f"{own}.9/maps", "", os.O_RDWR), -errno.ENOENT),
                            ((WORD, "", "", 0, -errno.EACCES), 0), ((MKDIR, ".new.1"), 0),
                            ((RENAME, ".new.1", f"{own}.77"), 0)):
        code = ask(capture, proof, *request)
        if code != wanted:
            sys.exit(f"{request}: expected {wanted}, found {code}")
    os.unlink(f"{capture}/{own}/user/stream_70")
    os.rmdir(f"{capture}/{own}.77")
    requests = [
        (OPEN, "session", "", os.O_RDONLY), (OPEN, "config", "", os.O_RDWR),
        (OPEN, "/etc/passwd", "", os.O_RDWR), (OPEN, "../planted", "", append),
        (OPEN, f"{own}/../session", "", os.O_RDONLY), (OPEN, f"{own}/planted", "", append),
        (OPEN, f"{own}//maps", "", os.O_RDWR), (OPEN, "", "", os.O_RDWR), (OPEN, own, "", os.O_RDONLY),
        (OPEN, f"{own}/maps", "", os.O_RDWR | os.O_TRUNC), (OPEN, f"{own}/user/metadata/x", "", append),
        (OPEN, f"{own}/maps", "", os.O_PATH), (OPEN, f"{own}0/maps", "", append),
        (OPEN, f"{other}/threads", "", os.O_RDWR), (OPEN, f"{other}/maps", "", os.O_RDWR),
        (OPEN, f"{own}/user/stream_" + 58 * "7", "", append), (OPEN, "kernel/x", "", append),
        (MKDIR, "planted"), (MKDIR, f"{own}.5"), (MKDIR, ".new.x"), (MKDIR, f"{other}/user"),
        (RENAME, other, f"{own}.1"), (RENAME, own, f"{other}.1"), (RENAME, f"{own}/maps", "config"),
        (RENAME, f"{own}/maps", f"{other}/maps"), (RENAME, f"{own}/maps", "../planted"),
        (UNLINK, "session"), (UNLINK, f"{other}/maps"), (UNLINK, own), (UNLINK, f"{own}/../config"),
        (REMOVE, own), (REMOVE, other), (REMOVE, f"{own}/user"), (REMOVE, ".."), (REMOVE, ".new.2"),
        (0,), (7, f"{own}/maps"), (-1,),
    ]
    # A process without the secret may read it if the kernel shows that it belongs to the recording.
    for name in "session", "config":
        if ask(capture, (0, 0), OPEN, name, "", os.O_RDONLY) != 1:
            sys.exit(f"{name}: expected a descriptor")
    requests += [(OPEN, "session", "", flags) for flags in (os.O_RDWR, os.O_RDONLY | os.O_CREAT, os.O_TRUNC)]
    wrong = (proof[0], proof[1] ^ 1)
    return must_refuse(capture, [(proof, request) for request in requests] +
                       [(wrong, (OPEN, f"{own}/maps", "", append)),
                        ((0, 0), (OPEN, f"{own}/maps", "", append)),
                        ((0, 0), (OPEN, "session", "", append)),
                        ((0, 0), (OPEN, "info.json", "", os.O_RDONLY))])


def greedy(capture):
    proof, own = secret(capture), str(os.getpid())
    with open(f"{capture}/{own}/maps", "ab") as maps:
        os.posix_fallocate(maps.fileno(), 0, 100 << 20)
    for n in range(300000):
        code = ask(capture, proof, OPEN, f"{own}/maps", "", os.O_RDWR | os.O_CREAT)
        if code == -errno.EDQUOT:
            os.truncate(f"{capture}/{own}/maps", 0)
            return n
        if code != 1:
            sys.exit(f"greedy: expected a descriptor or EDQUOT, found {code}")
    sys.exit("greedy: expected EDQUOT, but all requests were granted")


def outsider(capture):
    own = str(os.getpid())
    os.setresuid(65534, 65534, 65534)
    n = must_refuse(capture, [((0, 0), (WORD, "", "", 0, -errno.EACCES)),
                              ((1, 2), (WORD, "", "", 0, -errno.EACCES)),
                              ((0, 0), (OPEN, f"{own}/maps", "", os.O_RDWR | os.O_CREAT)),
                              ((0, 0), (OPEN, "session", "", os.O_RDONLY)),
                              ((0, 0), (OPEN, "config", "", os.O_RDONLY)),
                              ((0, 0), (MKDIR, ".new.3")), ((5, 5), (UNLINK, "session"))])
    for data in b"x", 1000 * b"x", struct.pack("<Q", MAGIC) + 200 * b"\0":
        send(capture, data)
        n += 1
    # A sender that does not wait for the reply.
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(address(capture))
        connection.send(struct.pack("<QQQiiii160x", MAGIC, 0, 0, WORD, -errno.EACCES, 0, 0))
    # A connection without a request.
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(address(capture))
    return n + 2


def main():
    capture, role = sys.argv[1:3]
    print({"member": member, "outsider": outsider, "greedy": greedy}[role](capture), flush=True)
    if role == "member":
        with open(sys.argv[3], "w", encoding="ascii") as ready:
            ready.write("done\n")
        with open(sys.argv[4], encoding="ascii") as go:
            go.readline()


main()
