# SPDX-License-Identifier: MIT
"""lives.py PROGRAM TRACE PRINTED: fails unless the blocks in the trace of accesses are those that the program printed.

Each line of PRINTED is `block ADDRESS SIZE LINE` or `freed ADDRESS SIZE`; LINE 0: in a header, and the address is
anywhere in the block. In C++, blocks of containers that it did not print may be in the trace, too."""
import subprocess
import sys

from segments import Block, Segment, events_of


def line_of(program, site):
    text = subprocess.run(["addr2line", "-e", program, hex(site - 1)], stdout=subprocess.PIPE, check=True, text=True).stdout
    name, number = text.split()[0].rsplit(":", 1)
    return name, int(number) if number.isdigit() else 0


def check(program, trace, printed):
    events = events_of(trace)
    blocks = [event for event in events if isinstance(event, Block)]
    is_cxx = "cxx" in program
    at = 0
    for line in printed:
        kind, address, size, *source = line.split()
        address, size = int(address), int(size)
        inside = source == ["0"]
        while is_cxx and at < len(blocks) and not (
                blocks[at].kind == kind and blocks[at].size == size and
                (blocks[at].address == address or inside and 0 <= address - blocks[at].address < size)):
            at += 1
        assert at < len(blocks), f"not in the trace, or not in this order: {line}"
        assert is_cxx or (kind, address, size) == (blocks[at].kind, blocks[at].address, blocks[at].size), (
            f"expected {line}, found {vars(blocks[at])}")
        if source and not inside:
            name, number = line_of(program, blocks[at].site)
            assert "lives" in name and number == int(source[0]), f"{line}: allocated at {name}:{number}"
        elif source:
            assert blocks[at].site != 0, line
        at += 1
    assert is_cxx or at == len(blocks), f"not printed: {vars(blocks[at])}"
    check_lives(events)
    return len(blocks)


def check_lives(events):
    """A block begins and is freed in turns, and each access is in one that exists, if any of its life is known."""
    live = {}
    known = set()
    for event in events:
        if isinstance(event, Segment):
            for line in event.lines:
                for byte in line.bytes_of(line.read | line.written):
                    if byte in known:
                        assert any(a <= byte < a + n for a, n in live.items()), f"{byte}: an access to a freed block"
        elif event.kind == "block":
            overlapping = [(a, n) for a, n in live.items()
                           if a != event.address and a < event.address + event.size and event.address < a + n]
            assert not overlapping, f"{event.address} overlaps {overlapping}"
            live[event.address] = event.size
            known.update(range(event.address, event.address + min(event.size, 100000)))
        else:
            assert live.pop(event.address, None) == event.size, f"{event.address} was not in the trace, or of another size"


if __name__ == "__main__":
    n = check(sys.argv[1], sys.argv[2], [line for line in open(sys.argv[3]) if line.split()[0] in ("block", "freed")])
    print(f"{n} events")
