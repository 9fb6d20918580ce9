#!/bin/bash
# SPDX-License-Identifier: MIT
# The lines that record prints at its end, of more than 64 MiB of synch-events: if all are read, the figures of
# `report locks`; else estimates from parts of the time, which agree within their stated error.
. "$GM_TOP/tests/lib.sh"
need jq
build steady_waits

# pairs: operations that fill the streams; mib: the size of these streams is above that
pairs=2300000 mib=64
! with_sanitizers || pairs=290000 mib=8

# recorded BYTES: as if no more than that could be read quickly; messages go to err.
recorded()
{
	rm -rf gprof-mt.data
	GPROF_MT_SUMMARY_BYTES=$1 "$gprof_mt" record --profile applic-only --set sync.mode=all ./steady_waits $pairs \
		2>err || fail "$1: $(cat err)"
	tail -1 err | grep -qxE 'gprof-mt: next: gprof-mt report (locks|threads|io)' || fail "$1: $(cat err)"
	bytes=$(du -cb gprof-mt.data/[0-9]*/user/stream_* | tail -1 | cut -f1)
	[ "$bytes" -gt $((mib << 20)) ] || fail "only $bytes bytes"
	"$gprof_mt" report --format json locks >locks.json || fail "$1: no report"
}

# All: the same three lines as from the report's own table.
recorded $((1 << 40))
tail -1 err | grep -qE 'locks|io' || fail "$(cat err)"
! grep -E 'estimate|in the first|about' err || fail "see above"
grep -q '^gprof-mt: finding: .* what hold() does while it holds often (mutex), ' err || fail "$(cat err)"
grep -o 'waited .*' err >lines
jq -r '[.locks[] | select(.wait_ns > 0 and .type != "thread")] | sort_by(-.wait_ns) | .[:3] | .[] |
	"\(.wait_ns) for \(.name) (mutex), in \(.contended) of \([.sites[].calls] | add) operations, mostly at " +
	"\(.sites[0].site), held since \(.sites[0].holders[0].site)"' locks.json >expected
python3 - lines expected <<'END_PYTHON' || fail "all were read: $(cat err)"
import re, sys
lines, expected = (open(path).read().splitlines() for path in sys.argv[1:])
assert len(lines) == len(expected) >= 2, (lines, expected)
units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
for line, row in zip(lines, expected):
    value, unit, rest = re.fullmatch(r"waited ([0-9.]+) (\w+) (for .*)", line).groups()
    wait_ns, same = row.split(" ", 1)
    assert rest == same, (rest, same)
    assert abs(float(value) * units[unit] / int(wait_ns) - 1) < 0.01, (line, row)
END_PYTHON

# A small part, and nearly all: the first object is the same; wait and holder of each agree.  The error holds for
# 95 of 100 estimates (unit/test_windows); twice that leaves one of 10,000 out.
for part in $((mib * 3 / 16)) $mib; do
	recorded $((part << 20))
	tail -1 err | grep -qE 'locks|io' || fail "$(cat err)"
	grep -qE ': estimates from [0-9]+ parts of [0-9.]+ [mu]?s each, [0-9.]+ % of the time: adding up all [0-9.]+[^0-9]*MiB' err ||
		fail "$(cat err)"
	# The finding is that of the report, or it is left out, since the error of the waits is large.
	! grep finding err | grep -v 'finding, estimated: .* what hold() does while it holds often (mutex), ' ||
		fail "finding: see above"
	# Windows are in equal stretches of the time, so no gap is longer than two of these.
	python3 - err locks.json <<-'END_PYTHON' || fail "gaps: $(cat err)"
	import json, re, sys
	units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
	found = re.search(r"from ([0-9]+) parts of ([0-9.]+) (\w+) each, ([0-9.]+) % of .*; objects whose waits are all "
	                  r"between these parts, and shorter than ([0-9.]+) (\w+) each, are missing", open(sys.argv[1]).read())
	n, part_ns, percent = int(found[1]), float(found[2]) * units[found[3]], float(found[4])
	gap_ns, all_ns = float(found[5]) * units[found[6]], n * part_ns * 100 / percent
	assert (all_ns / n - part_ns) * 0.9 <= gap_ns <= 2.2 * all_ns / n, (gap_ns, all_ns / n)
	END_PYTHON
	grep -o 'waited .*' err >lines
	python3 - lines locks.json <<-'END_PYTHON' || fail "estimates: $(cat err)"
	import json, re, sys
	lines = open(sys.argv[1]).read().splitlines()
	locks = {row["name"]: row for row in json.load(open(sys.argv[2]))["locks"] if row["type"] == "mutex"}
	units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
	pattern = (r"waited about ([0-9.]+) (\w+) \((?:\+/- ([0-9]+) %|up to ([0-9.]+) (\w+))\) for (\w+) \(mutex\)"
	           r"(?:, in .* operations)?"
	           r", mostly at (\w+) \(.*\), held since (\w+) \(.*\)")
	names = []
	for line in lines:
	    value, unit, error, most, most_unit, name, site, holder = re.fullmatch(pattern, line).groups()
	    names.append(name)
	    wait_ns, true_ns = float(value) * units[unit], locks[name]["wait_ns"]
	    error_ns = wait_ns * int(error) / 100 if error else float(most) * units[most_unit] - wait_ns
	    assert abs(wait_ns - true_ns) <= 2 * error_ns + 0.05 * true_ns, (line, true_ns)
	    assert (site, holder) == ("wait_for", "hold"), line
	assert names[0] == "often", names
	END_PYTHON
done

# So few bytes that hardly anything is read: still an estimate and no failure.
recorded 4096
grep -qE ': (estimates from|no waits in) [0-9]+ parts' err || fail "$(cat err)"
