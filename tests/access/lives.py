# SPDX-License-Identifier: MIT
"""lives.py TRACE: fails if blocks overlap, or are accessed after they were freed.
lives.py PROGRAM TRACE PRINTED: fails, too, unless the blocks in the trace are those that the program printed.

Each line of PRINTED is `block ADDRESS SIZE LINE` or `freed ADDRESS SIZE`; LINE 0: in a header, and the address is
anywhere in the block. Blocks that it did not print may be in the trace, too: of containers in C++, and of libc in a
program as it is (PROGRAM.bare), which is stepped."""
import subprocess
import sys

from segments import Block, Segment, events_of


def lines_of(program, sites):
    """By site: the file and the line."""
    sites = list(sites)
    text = subprocess.run(["addr2line", "-e", program], input="".join(f"{site - 1:#x}\n" for site in sites),
                          stdout=subprocess.PIPE, check=True, text=True).stdout
    found = {}
    for site, line in zip(sites, text.splitlines(), strict=True):
        name, number = line.split()[0].rsplit(":", 1)
        found[site] = name, int(number) if number.isdigit() else 0
    return found


def check(program, trace, printed):
    events = events_of(trace)
    blocks = [event for event in events if isinstance(event, Block)]
    lines = lines_of(program, {block.site for block in blocks if block.site})
    has_others = "cxx" in program or program.endswith(".bare")
    at = 0
    for line in printed:
        kind, address, size, *source = line.split()
        address, size = int(address), int(size)
        inside = source == ["0"]
        while has_others and at < len(blocks) and not (
                blocks[at].kind == kind and blocks[at].size == size and
                (blocks[at].address == address or inside and 0 <= address - blocks[at].address < size)):
            at += 1
        assert at < len(blocks), f"not in the trace, or not in this order: {line}"
        assert has_others or (kind, address, size) == (blocks[at].kind, blocks[at].address, blocks[at].size), (
            f"expected {line}, found {vars(blocks[at])}")
        if source and not inside:
            name, number = lines.get(blocks[at].site, ("?", 0))
            assert "lives" in name and number == int(source[0]), f"{line}: allocated at {name}:{number}"
        elif source:
            assert blocks[at].site != 0, line
        at += 1
    assert has_others or at == len(blocks), f"not printed: {vars(blocks[at])}"
    check_lives(events)
    return len(blocks)


def granules_of(event):
    """The units of 16 bytes, which no two blocks share."""
    if isinstance(event, Block):
        return set(range(event.address // 16, (event.address + event.size + 15) // 16))
    return {line.address // 16 + i for line in event.lines for i in range(4)
            if (line.read | line.written) >> 16 * i & 0xffff}


def check_lives(events):
    """Blocks do not overlap, only what is in the trace is freed, and no segment accesses what was freed."""
    blocks, used, freed = {}, set(), set()
    for event in events:
        granules = granules_of(event)
        if isinstance(event, Segment):
            assert not granules & freed, f"{vars(event)}: an access to a freed block"
            continue
        if event.address in blocks:
            used -= blocks.pop(event.address)
        elif event.kind == "freed":
            raise AssertionError(f"{vars(event)}: not in the trace")
        if event.kind == "block":
            assert not granules & used, f"{vars(event)}: it overlaps another block"
            blocks[event.address] = granules
            used |= granules
            freed -= granules
        else:
            freed |= granules


if __name__ == "__main__":
    if len(sys.argv) == 2:
        check_lives(events_of(sys.argv[1]))
        sys.exit()
    n = check(sys.argv[1], sys.argv[2], [line for line in open(sys.argv[3]) if line.split()[0] in ("block", "freed")])
    print(f"{n} events")
