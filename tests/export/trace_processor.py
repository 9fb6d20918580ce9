# SPDX-License-Identifier: MIT
"""Reads a Perfetto trace by Perfetto's own trace processor; its fields must be those of the schema."""
import json
import os
import re
import subprocess

import perfetto
from slices import Slice

folder = os.path.join(os.environ["GM_BUILD"], "tests/perfetto/trace-processor")
# Fields of packets that the reader handles itself: it lists some of them, depending on the trace.
ASIDE = "TracePacket.#clock_snapshot", "TracePacket.#trace_packet_defaults"
SAMPLES = r"#(perf_sample|function_names|frames|callstacks|mapping_paths|mappings)\."
reader = os.path.join(os.environ["GM_TOP"], "tests/export/trace_processor.js")


def published():
    """The fields in perfetto.FIELDS of the packets that it prints; it does not print the packet with the clock."""
    def below(message, path):
        for text in perfetto.FIELDS[message].split(","):
            name, _, kind = text.split()
            yield f"{path}.#{name}.{kind.lstrip('*')}"
            if kind.lstrip("*") in perfetto.FIELDS:
                yield from below(kind.lstrip("*"), f"{path}.#{name}.{kind.lstrip('*')}")

    return {"TracePacket"} | {p for p in below("TracePacket", "TracePacket") if not p.startswith(ASIDE)}


class Track:
    def __init__(self, row):
        self.uuid, self.name, self.tid, self.thread_name = row["id"], row["name"], row["tid"], row["thread"]
        self.parent = row["parent"]


class Trace:
    def __init__(self, path):
        found = json.loads(subprocess.run(["node", reader, folder, path], check=True, stdout=subprocess.PIPE).stdout)
        assert not found["errors"], found["errors"]
        self.fields = {row["path"] for row in found["fields"] if not row["path"].startswith(ASIDE)}
        assert [row["clock_id"] for row in found["clocks"]] == [perfetto.MONOTONIC], found["clocks"]
        wanted = published()
        if "TracePacket.#perf_sample.PerfSample" not in self.fields:  # no samples with stacks
            wanted = {p for p in wanted if not re.search(SAMPLES, p)}
        extra, missing = self.fields - wanted, wanted - self.fields
        assert not extra and (not missing or not found["flows"]), (extra, missing)
        self.tracks = {row["id"]: Track(row) for row in found["tracks"]}
        notes = {}
        for row in found["args"]:
            kind, name = row["key"].split(".", 1)
            if kind == "debug":
                notes.setdefault(row["args"], {})[name] = row["number"] if row["text"] is None else row["text"]
        by_id = {}
        for row in sorted(found["slices"], key=lambda row: row["id"]):
            new = by_id[row["id"]] = Slice(self.tracks[row["track"]], row["name"], int(row["ts"]),
                                           notes.get(row["args"], {}), by_id.get(row["parent"]))
            assert row["parent"] is None or new.within
            assert row["dur"] >= 0, "a slice without an end"
            new.end = new.begin + row["dur"]
        self.slices = list(by_id.values())
        for number, row in enumerate(found["flows"]):
            source, target = by_id[row["slice_out"]], by_id[row["slice_in"]]
            source.flows_out.append(number)
            target.flows_in.append(number)

    def parents(self, track):
        while track.parent is not None:
            track = self.tracks[track.parent]
            yield track

    def thread(self, track):
        return track if track.tid is not None else None
