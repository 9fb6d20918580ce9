# SPDX-License-Identifier: MIT
"""Chrome's trace events, as slices on tracks: the same as perfetto.py has."""
import decimal
import json
import re
import types

from perfetto import Slice


def ns(time):
    time = decimal.Decimal(time) * 1000
    assert time == int(time)
    return int(time)


class Trace:
    def __init__(self, path):
        with open(path) as file:
            events = json.load(file, parse_float=decimal.Decimal)["traceEvents"]
        self.tracks, self.slices, processes, last = {}, [], set(), None
        for event in events:
            key = event["pid"], event["tid"]
            if event["ph"] == "M" and event["name"] == "process_name":
                processes.add(event["pid"])
            elif event["ph"] == "M" and event["name"] == "thread_sort_index":
                assert event["args"]["sort_index"] >= 0
            elif event["ph"] == "M":
                assert key not in self.tracks and event["name"] == "thread_name"
                self.tracks[key] = self.track(key, event["args"]["name"])
            elif event["ph"] in "Bi":
                assert event["pid"] in processes and (last is None or last.end is not None)
                last = Slice(self.tracks[key], event["name"], ns(event["ts"]), event["args"], [])
                if event["ph"] == "i":
                    last.end = last.begin
                self.slices.append(last)
            elif event["ph"] == "E":
                assert self.tracks[key] is last.track and last.end is None and event["name"] == last.name
                last.end = ns(event["ts"])
                assert not last.flows_in or flow == last.end
            else:
                # A flow is bound to the slice that is there at the time; for an instant, to its thread's state.
                assert event["ph"] in "sf" and self.tracks[key].tid == last.track.tid
                if event["ph"] == "s":
                    assert last.end == ns(event["ts"]) and self.tracks[key].name == "state"
                else:
                    assert event["bp"] == "e" and self.tracks[key] is last.track
                (last.flows_out if event["ph"] == "s" else last.flows_in).append(event["id"])
                flow = ns(event["ts"])

    def track(self, key, name):
        """Named as Perfetto's: the states of a thread, a lock, or a thread."""
        track = types.SimpleNamespace(uuid=key, name=name, tid=None, thread_name=name)
        states = re.fullmatch(r"(.*) \(tid (\d+)\): state", name)
        if states:
            track.name, track.thread_name, track.tid = "state", states[1], int(states[2])
        elif name.startswith("lock "):
            track.name = name[len("lock "):]
        else:
            track.tid = key[1]
        return track

    def parents(self, track):
        if track.tid is None:
            yield types.SimpleNamespace(name="locks")

    def thread(self, track):
        return track if track.tid is not None else None
