#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A thread that is blocked in read() until another one writes: report io gives the number of reads, the
# descriptor, the call site and the time, by the program's own account; paths, summary, the lines of record,
# the exports and the timeline name the call. What is idle comes last.
. "$GM_TOP/tests/lib.sh"

need python3
build blocking_calls -fno-omit-frame-pointer
n=5

# check SOURCE: records with that source of scheduling events, and compares
check()
{
	fresh "$gprof_mt" record --set "kernel.source=$1" --set io.threshold=10us -- ./blocking_calls $n >account 2>err ||
		fail "$1: exit status $?"
	read -r fd bytes own_ns <account
	same "$1: bytes" "$n" "$bytes"
	grep -Eq ": blocked .* in ([0-9]+ calls of )?read \(fd $fd\), at next_byte \(blocking_calls\.c:[0-9]+\)" err ||
		{ cat err; fail "$1: no line about read()"; }
	grep -Eq ': idle .*[0-9] m?s in (nanosleep|poll)' err || { cat err; fail "$1: no line about idle calls"; }
	"$gprof_mt" report --format json summary threads io paths critical-path >report.json || fail "$1: report"
	"$gprof_mt" export --format folded --what off-cpu -o folded || fail "$1: export"
	grep -Eq '^blocking_calls.*;reader;next_byte;read [0-9]+$|;reader;next_byte;read [0-9]+$' folded ||
		{ cat folded; fail "$1: read() is not in the stacks off the CPU"; }
	"$gprof_mt" timeline --thread reader >lines || fail "$1: timeline"
	grep -q "enters read(fd $fd), at next_byte" lines || { cat lines; fail "$1: read() is not in the timeline"; }
	python3 - "$1" "$fd" "$own_ns" $n <<'PY' || fail "$1: the figures are wrong"
import json, sys
source, fd, own_ns, n = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
report = json.load(open("report.json"))
summary, rows = report["summary"][0], report["io"]
reads = [row for row in rows if row["call"] == "read" and row["site"].startswith("next_byte ")]
print(source, reads, own_ns)
assert len(reads) == 1 and rows[0] == reads[0], rows
read = reads[0]
assert read["calls"] == n + 1 and read["fd"] == str(fd) and read["kind"] == "read", read
assert read["fds"] == [{"fd": fd, "calls": n + 1, "wait_ns": read["wait_ns"]}], read
assert (n + 1) * 1000000 <= read["wait_ns"] <= own_ns, read
assert read["wait_ns"] / read["calls"] <= read["wait_max_ns"] <= read["wait_ns"] and read["idle_ns"] == 0, read
for call in "nanosleep", "poll":
    idle = [row for row in rows if row["call"] == call]
    assert len(idle) == 1 and idle[0]["idle_ns"] == idle[0]["wait_ns"] >= 1000000, idle
for key in "calls", "wait_ns", "idle_ns":
    assert sum(row[key] for row in rows) == summary["io_" + key], key
assert "next_byte" in summary["io_most"], summary
path = [row for row in report["paths"] if row["function"] == "read" and row["path"].startswith("next_byte < reader")]
assert len(path) == 1 and path[0]["wait_ns"] == read["wait_ns"] and path[0]["name"] == f"fd {fd}", path
threads = {row["name"]: row for row in report["threads"]}
blocked_ns = threads["reader"]["blocked_io_ns"] if "reader" in threads else None
if source == "none":
    assert read["blocked_ns"] is None, read
else:
    assert 0 < read["blocked_ns"] <= read["wait_ns"], read
    assert "read" in summary["outside"] if summary["outside"] else True, summary
if blocked_ns is not None:
    assert blocked_ns >= (read["blocked_ns"] or read["wait_ns"]), (blocked_ns, read)
PY
}

retry check none
if can_trace; then
	retry check perf
fi
exit 0
