#!/bin/bash
# SPDX-License-Identifier: MIT
# callgrind_annotate reads what export writes for it: the same calls, CPU time and callers as in our
# reports, for all threads and for one.
. "$GM_TOP/tests/runtime/gmon/common.sh"
. "$GM_TOP/tests/runtime/sample/common.sh"
for tool in jq callgrind_annotate; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done

cat >check.py <<'END'
import collections, json, re, sys

flat, edges, annotated, tid = json.load(open("functions")), json.load(open("edges")), open("annotated").read(), sys.argv[1]
has_times = any(f["samples"] is not None for f in flat["functions"])

def number(text):
    return 0 if text == "." else int(text.replace(",", ""))

def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {sorted(got.items() ^ want.items())[:10]}")

# "1,234 (5.6%) 789 (1.0%)  *  ???:name": self costs, and behind a caller "> ???:name (12x) []".
cost = r"([\d,.]+)(?: \([ \d.]+%\))?"
line = re.compile(rf"^\s*{cost}\s+" + (rf"{cost}\s+" if has_times else "()") + r"([*<>])?\s*\?\?\?:(.*)$")
functions, calls, caller = {}, collections.Counter(), None
for text in annotated.splitlines():
    found = line.match(text)
    if not found:
        continue
    count, ns, mark, name = found.groups()
    if mark == "*":
        functions[name] = (number(count), number(ns or "0"))
        caller = name
    elif mark == ">":
        callee, times = re.fullmatch(r"(.*) \(([\d,]+)x\) \[\]", name).groups()
        calls[caller, callee] += number(times)

want = collections.defaultdict(lambda: [0, 0])
for row in flat["functions"]:
    want[row["name"]][0] += row["calls"] or 0
    want[row["name"]][1] += (row["samples"] or 0) * (row["sample_period_ns"] or 0)
used = {n: tuple(v) for n, v in want.items() if any(v)}
same("functions", {n: v for n, v in functions.items() if any(v)}, used)
if not any(v[0] for v in used.values()):
    sys.exit("no function was called")

name_of = {node["id"]: node["name"] for node in edges["nodes"]}
arcs = collections.Counter()
for edge in edges["edges"]:
    arcs[name_of[edge["from"]], name_of[edge["to"]]] += edge["count"]
same("callers", dict(calls), dict(arcs))
END

# compare [SELECTION...]
compare()
{
	"$gprof_mt" report --format json "$@" flat >functions || fail "flat"
	"$gprof_mt" graph --kind calls --format json "$@" >edges || fail "graph"
	"$gprof_mt" export --format callgrind "$@" 2>err || fail "export: $(cat err)"
	callgrind_annotate --threshold=100 --tree=calling callgrind.out.gprof-mt >annotated 2>err ||
		fail "callgrind_annotate: $(cat err)"
	[ ! -s err ] || fail "callgrind_annotate says: $(cat err)"
	python3 check.py "${2:-}" || fail "$*: $(cat annotated)"
}

build ratio -falign-functions=64
"$gprof_mt" record -q --set kernel.source=none --set sample.hz=250 -- ./ratio 200 2 >out ||
	fail "ratio: exit status $?"
compare
grep -qx 'cmd: ./ratio 200 2' callgrind.out.gprof-mt || fail "not the command: $(grep cmd callgrind.out.gprof-mt)"
compare --tid "$(jq '.functions[0].tid' functions)"

# Without samples there is no such event, and none of zeros.
rm -rf gprof-mt.data
"$gprof_mt" record -q --set kernel.source=none --set sample.hz=0 -- ./ratio 20 1 >out ||
	fail "no samples: exit status $?"
compare
grep -qx 'events: Calls' callgrind.out.gprof-mt || fail "events: $(cat callgrind.out.gprof-mt)"
exit 0
