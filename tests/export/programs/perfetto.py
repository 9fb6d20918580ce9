# SPDX-License-Identifier: MIT
"""A Perfetto trace, read by Google's protobuf decoder.

FIELDS are the names, numbers and types of the fields in it, those of Perfetto's published schema: tests/export has its
trace processor compare them.  A field that is none of these is an error."""
from slices import Slice

FIELDS = {
    "Trace": "packet 1 *TracePacket",
    "TracePacket": "clock_snapshot 6 ClockSnapshot, timestamp 8 uint64, trusted_packet_sequence_id 10 uint32,"
    "track_event 11 TrackEvent, interned_data 12 InternedData, sequence_flags 13 uint32,"
    "trace_packet_defaults 59 TracePacketDefaults, track_descriptor 60 TrackDescriptor, perf_sample 66 PerfSample",
    "TracePacketDefaults": "perf_sample_defaults 12 PerfSampleDefaults, timestamp_clock_id 58 uint32",
    "PerfSampleDefaults": "timebase 1 Timebase",
    "Timebase": "period 1 uint64, name 10 string",
    "PerfSample": "pid 2 uint32, tid 3 uint32, callstack_iid 4 uint64, timebase_count 6 uint64",
    "ClockSnapshot": "clocks 1 *Clock, primary_trace_clock 2 enum",
    "Clock": "clock_id 1 uint32, timestamp 2 uint64",
    "TrackDescriptor": "uuid 1 uint64, name 2 string, process 3 ProcessDescriptor, thread 4 ThreadDescriptor,"
    "parent_uuid 5 uint64",
    "ProcessDescriptor": "pid 1 int32, process_name 6 string",
    "ThreadDescriptor": "pid 1 int32, tid 2 int64, thread_name 5 string",
    "TrackEvent": "debug_annotations 4 *DebugAnnotation, type 9 enum, name_iid 10 uint64, track_uuid 11 uint64,"
    "flow_ids 47 *fixed64, terminating_flow_ids 48 *fixed64",
    "DebugAnnotation": "name_iid 1 uint64, int_value 4 int64, string_value_iid 17 uint64",
    "InternedData": "event_names 2 *EventName,"
    "debug_annotation_names 3 *DebugAnnotationName, debug_annotation_string_values 29 *InternedString,"
    "function_names 5 *InternedString, frames 6 *Frame, callstacks 7 *Callstack, mapping_paths 17 *InternedString,"
    "mappings 19 *Mapping",
    "Mapping": "iid 1 uint64, path_string_ids 7 *uint64",
    "Frame": "iid 1 uint64, function_name_id 2 uint64, mapping_id 3 uint64, rel_pc 4 uint64",
    "Callstack": "iid 1 uint64, frame_ids 2 *uint64",
    "EventName": "iid 1 uint64, name 2 string",
    "DebugAnnotationName": "iid 1 uint64, name 2 string",
    "InternedString": "iid 1 uint64, str 2 bytes",
}
MONOTONIC, CLEARED, NEEDED = 3, 1, 2
BEGIN, END, INSTANT = 1, 2, 3


def trace_class():
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
    file = descriptor_pb2.FileDescriptorProto(name="trace.proto", package="perfetto.protos", syntax="proto2")
    for message, fields in FIELDS.items():
        message = file.message_type.add(name=message)
        for text in fields.split(","):
            name, number, kind = text.split()
            field = message.field.add(name=name, number=int(number), label=3 if kind[0] == "*" else 1)
            kind = kind.lstrip("*")
            if kind in FIELDS:
                field.type, field.type_name = 11, ".perfetto.protos." + kind
            else:
                field.type = getattr(field, "TYPE_" + kind.upper().replace("ENUM", "INT32"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.MessageFactory(pool).GetPrototype(pool.FindMessageTypeByName("perfetto.protos.Trace"))


def forbid_unknown(message):
    assert len(message.UnknownFields()) == 0, f"fields that the schema does not have: {message}"
    for field, value in message.ListFields():
        for part in value if field.label == 3 else [value]:
            if field.message_type:
                forbid_unknown(part)


class Trace:
    """tracks: by uuid, with .path, names from the outermost on; slices, as the events nest in time."""

    def __init__(self, path):
        self.trace = trace_class()()
        with open(path, "rb") as file:
            self.trace.ParseFromString(file.read())
        forbid_unknown(self.trace)
        self.tracks, self.slices, self.interned = {}, [], {}
        events, defaults, begun = [], None, False
        for packet in self.trace.packet:
            assert packet.trusted_packet_sequence_id
            if packet.sequence_flags & CLEARED:
                begun, defaults = True, packet.trace_packet_defaults
            if packet.HasField("clock_snapshot"):
                assert packet.clock_snapshot.primary_trace_clock == MONOTONIC
                assert [c.clock_id for c in packet.clock_snapshot.clocks] == [MONOTONIC]
            self.intern(packet.interned_data)
            if packet.HasField("track_descriptor"):
                uuid = packet.track_descriptor.uuid
                assert uuid and uuid not in self.tracks
                self.tracks[uuid] = packet.track_descriptor
            if packet.HasField("track_event"):
                assert begun and packet.sequence_flags & NEEDED
                assert defaults.timestamp_clock_id == MONOTONIC
                events.append((packet.timestamp, self.name(packet.track_event), packet.track_event))
        # In the trace processor's order: by time, else in the order of the file.
        stacks = {}
        for time, (name, notes), event in sorted(events, key=lambda e: e[0]):
            self.take(stacks.setdefault(event.track_uuid, []), time, name, notes, event)
        assert not any(stacks.values()), "slices without an end"

    def intern(self, data):
        for kind in "event_names", "debug_annotation_names", "debug_annotation_string_values":
            for entry in getattr(data, kind):
                text = entry.str.decode() if kind.endswith("values") else entry.name
                assert entry.iid and (kind, entry.iid) not in self.interned
                self.interned[kind, entry.iid] = text

    def name(self, event):
        """Valid when the packet is read: all numbers are defined by then."""
        notes = {}
        for note in event.debug_annotations:
            key = self.interned["debug_annotation_names", note.name_iid]
            notes[key] = (self.interned["debug_annotation_string_values", note.string_value_iid]
                          if note.HasField("string_value_iid") else note.int_value)
        return event.HasField("name_iid") and self.interned["event_names", event.name_iid], notes

    def take(self, stack, time, name, notes, event):
        if event.type == END:
            assert not name and not notes and not event.flow_ids and not event.terminating_flow_ids
            stack.pop().end = time
            return
        new = Slice(self.tracks[event.track_uuid], name, time, notes, stack[-1] if stack else None)
        new.flows_out, new.flows_in = list(event.flow_ids), list(event.terminating_flow_ids)
        self.slices.append(new)
        if event.type == BEGIN:
            stack.append(new)
        else:
            assert event.type == INSTANT
            new.end = time

    def parents(self, track):
        while track.HasField("parent_uuid"):
            track = self.tracks[track.parent_uuid]
            yield track

    def thread(self, track):
        """The thread of the track; None if it has none."""
        for track in [track, *self.parents(track)]:
            if track.HasField("thread"):
                return track.thread
        return None
