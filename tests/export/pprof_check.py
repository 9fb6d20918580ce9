# SPDX-License-Identifier: MIT
"""pprof_check.py GPROF_MT PROGRAM [SELECTION...]: compares a profile, as two readers of pprof's format read
it, with the reports of the same capture."""
import collections
import datetime
import json
import os
import re
import subprocess
import sys

gprof_mt, program, *selection = sys.argv[1:]
tests, packages = (os.path.join(os.environ[v], "tests/export") for v in ("GM_TOP", "GM_BUILD"))
CALLS, CPU, OFF_CPU, BLAME = "calls/count", "cpu/nanoseconds", "off-cpu/nanoseconds", "blame/nanoseconds"


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout.decode()


def report(*words):
    return json.loads(run(gprof_mt, *words, "--format", "json", *selection))


def same(what, got, want):
    got, want = ({k: v for k, v in d.items() if v} for d in (got, want))
    if got != want:
        sys.exit(f"{what}: only in the profile or only in the report: "
                 f"{sorted(set(got.items()) ^ set(want.items()), key=str)[:10]}")


run(gprof_mt, "export", "--format", "pprof", *selection)
profile = json.loads(run("node", os.path.join(tests, "pprof.js"), packages, "gprof-mt.pb.gz"))
assert profile["types"] == [CALLS, CPU, OFF_CPU, BLAME], profile["types"]
with open("gprof-mt.data/info.json") as file:
    begun = datetime.datetime.fromisoformat(json.load(file)["start_time"].replace("Z", "+00:00"))
assert profile["time_us"] == round(begun.timestamp() * 1e6), (profile["time_us"], begun)


def plain(name):
    """Code without a name may have one for each address."""
    return re.sub(r"^(.*)(\+0x[0-9a-f]+|, no symbols)$", r"<no name, in \1>", name)


def name_of(location):
    """Values of the function itself, which is the last frame."""
    name = location["lines"][-1][0]
    file = location["mapping"] and os.path.basename(location["mapping"]["file"])
    return f"<no name, in {file}>" if re.fullmatch(r"0x[0-9a-f]+|.*(\+0x[0-9a-f]+|, no symbols)", name) else name


calls, arcs, cpu, blocked, io, blame = (collections.Counter() for _ in range(6))
want_io = collections.Counter()
for row in report("report", "io")["io"]:
    want_io[row["call"]] += row["wait_ns"]
build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", program))[1]
for sample in profile["samples"]:
    names = [name_of(location) for location in sample["stack"]]
    assert sum(v != 0 for v in sample["values"].values()) == 1, sample
    for location in sample["stack"]:
        mapping = location["mapping"]
        assert not mapping or mapping["start"] <= location["address"] < mapping["end"], location
        if mapping and mapping["file"] == os.path.realpath(program):
            assert mapping["build_id"] == build_id
    if sample["values"][BLAME]:
        assert "thread" not in sample["labels"] and sample["labels"]["object"], sample
        blame[sample["labels"]["cause"], names[0]] += sample["values"][BLAME]
        continue
    tid = int(sample["labels"]["thread"].split("(tid ")[1].split(",")[0])
    calls[tid, names[0]] += sample["values"][CALLS]
    if len(names) > 1:
        arcs[names[1], names[0]] += sample["values"][CALLS]
    cpu[tid, names[0]] += sample["values"][CPU]
    if sample["values"][OFF_CPU] and names[0] in want_io:
        io[names[0]] += sample["values"][OFF_CPU]
        continue
    blocked[tid] += sample["values"][OFF_CPU]
    if sample["values"][OFF_CPU]:
        assert not sample["stack"][0]["mapping"] and sample["labels"]["object"], sample
        print(";".join(reversed(names)), sample["labels"]["object"])

want_calls, want_cpu = collections.Counter(), collections.Counter()
for row in report("report", "flat")["functions"]:
    want_calls[row["tid"], plain(row["name"])] += row["calls"] or 0
    want_cpu[row["tid"], plain(row["name"])] += (row["samples"] or 0) * (row["sample_period_ns"] or 0)
same("calls", calls, want_calls)
same("CPU time", cpu, want_cpu)
graph = report("graph", "--kind", "calls")
node = {n["id"]: n["name"] for n in graph["nodes"]}
want = collections.Counter()
for edge in graph["edges"]:
    want[node[edge["from"]], node[edge["to"]]] += edge["count"]
# gprof's graph omits callers without a name; here they are addresses.
same("callers", {k: v for k, v in arcs.items() if not k[0].startswith("<no name")}, want)
same("blocking calls", io, want_io)
want = collections.Counter()
for row in report("report", "blame")["blame"]:
    name = row["function"] or f"[{row['kind']}]"
    want[row["kind"], name] += row["wait_ns"] - row["idle_ns"]
    want["idle", name] += row["idle_ns"]
same("blame", blame, want)
assert sum(blame.values()) == sum(row["wait_ns"] or 0 for row in report("report", "locks")["locks"]), blame
same("blocked", blocked, {t["tid"]: t["blocked_sync_ns"] for t in report("report", "threads")["threads"]})

# The other reader shows the sample type that the profile names.
shown = json.loads(run("node", os.path.join(tests, "speedscope.js"), packages, "gprof-mt.pb.gz"))
kind = next(t for t in profile["types"] if t.split("/")[0] == profile["default_type"])
assert kind != CPU or profile["period"] > 0
total = sum(s["values"][kind] for s in profile["samples"])
assert total and sum(p["total"] for p in shown) == total, (shown, total)
