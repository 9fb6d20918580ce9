# SPDX-License-Identifier: MIT
"""The segments of accesses/ of a process, as babeltrace2 prints them."""
import re
import subprocess


LINES_KNOWN = 16384  # the last lines of a stream, which sets may name


class Line:
    """A line of a set: masks as Python integers, bit i for the byte at address + i."""

    def __init__(self, fields):
        self.address, self.read, self.written, self.changed = fields[:4]
        self.first, self.last, self.first_site, self.last_site = fields[4:]

    def bytes_of(self, mask):
        return {self.address + i for i in range(64) if mask >> i & 1}


class Segment:
    def __init__(self, end_ns, tid, fields, lines):
        self.end_ns, self.tid, self.lines = end_ns, tid, lines
        self.duration, self.reads, self.writes = fields["duration"], fields["reads"], fields["writes"]
        self.left_out, self.flags, self.set = fields.get("left_out", 0), fields["flags"], fields["set"]

    def read(self):
        return set().union(*(line.bytes_of(line.read) for line in self.lines))

    def written(self):
        return set().union(*(line.bytes_of(line.written) for line in self.lines))

    def changed(self):
        return set().union(*(line.bytes_of(line.changed) for line in self.lines))


class Block:
    """A block of the heap (kind: block), or the end of the life of its bytes (kind: freed; without a site)."""

    def __init__(self, end_ns, tid, kind, fields):
        self.end_ns, self.tid, self.kind = end_ns, tid, kind
        self.address, self.size, self.site = fields["address"], fields["size"], fields.get("site")


def number(text):
    return int(text, 0)


def segments_of(directory):
    return [event for event in events_of(directory) if isinstance(event, Segment)]


def events_of(directory):
    """Segments and blocks, in order of time."""
    run = subprocess.run(["babeltrace2", "--clock-cycles", "--no-delta", directory], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    assert run.returncode == 0 and not run.stderr, run.stderr
    streams = stream_numbers(directory)
    sets, defined, found = {}, {}, []
    for stream, line in zip(streams, run.stdout.splitlines(), strict=True):
        head, fields = re.fullmatch(r"(\[\d+\] .*?: \{ tid = \d+, index = \d+ \}), \{ (.*) \}", line).groups()
        end_ns, kind, tid = re.search(r"\[(\d+)\].* ?\b(\w+): \{ tid = (\d+)", head).groups()
        if kind == "lines":
            lines = [Line([number(value) for value in re.findall(r"= (0x[0-9A-F]+|\d+)", part)])
                     for part in re.findall(r"\[\d+\] = \{ (.*?) \}", fields)]
            assert len(lines) == int(re.search(r"\bn = (\d+)", fields)[1]), line
            defined.setdefault(stream, []).extend(lines)
            sets.setdefault((stream, int(re.search(r"set = (\d+)", fields)[1])), []).extend(lines)
            continue
        if kind == "known_lines":
            known = defined[stream]
            assert len(known) == int(re.search(r"last = (\d+)", fields)[1]), line
            places = [int(place) for place in re.findall(r"place = (\d+)", fields)]
            assert len(places) == int(re.search(r"\bn = (\d+)", fields)[1]), line
            lines = [known[len(known) - 1 - (len(known) - 1 - place) % LINES_KNOWN] for place in places]
            sets.setdefault((stream, int(re.search(r"set = (\d+)", fields)[1])), []).extend(lines)
            continue
        values = {name: number(value) for name, value in re.findall(r"(\w+) = (0x[0-9A-F]+|\d+)", fields)}
        if kind in ("block", "freed"):
            found.append(Block(int(end_ns), int(tid), kind, values))
            continue
        found.append(Segment(int(end_ns), int(tid), values,
                             sets[stream, values["set"]] if values["set"] != 0 else []))
        found[-1].kind = kind
    return found


def stream_numbers(directory):
    """The stream of each event, in the order of babeltrace2's events: only its other text format prints it."""
    command = ["babeltrace2", "-c", "sink.text.details", "--params=with-metadata=false,compact=true", directory]
    text = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return re.findall(r"^\[.*\] \{([0-9 ]+)\} Event `", text, re.M)
