# SPDX-License-Identifier: MIT
"""Chrome's trace events, as slices on tracks: the same as perfetto.py has."""
import decimal
import json
import re
import types

from slices import Slice


def ns(time):
    time = decimal.Decimal(time) * 1000
    assert time == int(time)
    return int(time)


def track(uuid, tid, name):
    """Named as Perfetto's: the states of a thread, a lock, or a thread."""
    new = types.SimpleNamespace(uuid=uuid, name=name, tid=None, thread_name=name)
    states = re.fullmatch(r"(.*) \(tid (\d+)\): state", name)
    if states:
        new.name, new.thread_name, new.tid = "state", states[1], int(states[2])
    elif name.startswith("lock "):
        new.name = name[len("lock "):]
    else:
        new.tid = tid
    return new


def release(slices, state, target):
    """What woke who is in target, from where a flow that begins in a thread's state leads there: instants can have none."""
    woken = f"{target.track.thread_name} (tid {target.track.tid})"
    assert state.name == "state"
    return next(s for s in slices if s.track.tid == state.tid and s.track.name != "state"
                and s.begin == s.end == target.begin and s.notes.get("wakes") == woken and not s.flows_out)


class Trace:
    def __init__(self, path):
        with open(path) as file:
            events = json.load(file, parse_float=decimal.Decimal)["traceEvents"]
        self.tracks, self.slices, self.open, self.processes = {}, [], [], set()
        starts = []
        for event in events:
            key = event["pid"], event["tid"]
            if event["ph"] == "M" and event["name"] == "process_name":
                self.processes.add(event["pid"])
            elif event["ph"] == "M" and event["name"] == "thread_sort_index":
                assert event["args"]["sort_index"] >= 0
            elif event["ph"] == "M":
                assert key not in self.tracks and event["name"] == "thread_name"
                self.tracks[key] = track(key, event["tid"], event["args"]["name"])
            elif event["ph"] == "s":
                starts.append((event["id"], self.tracks[key], ns(event["ts"])))
            elif event["ph"] == "f":
                last = self.slices[-1]
                assert event["bp"] == "e" and self.tracks[key] is last.track and last is self.open[-1]
                last.flows_in.append(event["id"])
            else:
                self.take(event, self.tracks[key])
        assert not self.open
        ends = {flow: s for s in self.slices for flow in s.flows_in}
        for flow, track_, time in starts:
            assert time == ends[flow].begin
            release(self.slices, track_, ends[flow]).flows_out.append(flow)

    def take(self, event, track_):
        if event["ph"] == "E":
            last = self.open.pop()
            assert track_ is last.track and event["name"] == last.name
            last.end = ns(event["ts"])
            return
        assert event["pid"] in self.processes and event["ph"] in "Bi" and all(s.track is track_ for s in self.open)
        new = Slice(track_, event["name"], ns(event["ts"]), event.get("args", {}), self.open[-1] if self.open else None)
        if event["ph"] == "i":
            new.end = new.begin
        else:
            self.open.append(new)
        self.slices.append(new)

    def parents(self, track_):
        if track_.tid is None:
            yield types.SimpleNamespace(name="locks")

    def thread(self, track_):
        return track_ if track_.tid is not None else None
