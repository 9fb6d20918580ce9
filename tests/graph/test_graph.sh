#!/bin/bash
# SPDX-License-Identifier: MIT
# gprof-mt graph of a program with known waits and lock orders; babeltrace2 is the witness.
. "$GM_TOP/tests/lib.sh"
"$CC" -O1 -g -D_GNU_SOURCE -I"$GM_TOP/tests" -pg -fno-inline -o orders "$GM_TOP/tests/graph/programs/orders.c" -pthread ||
	fail "cannot compile"

# check DIR: checks the graphs of that capture
check()
{
	local kind
	"$GM_TOP/tests/babeltrace" --clock-seconds --no-delta "$1"/[0-9]*/user >user.txt 2>bt.err || fail "babeltrace2: $(cat bt.err)"
	for kind in lock-order wait precedence calls sydg; do
		"$gprof_mt" graph -i "$1" --kind $kind --format json >$kind.json 2>err ||
			fail "graph --kind $kind: $(cat err)"
		"$gprof_mt" graph -i "$1" --kind $kind >$kind.dot || fail "graph --kind $kind as DOT"
		grep -q '^digraph' $kind.dot || fail "$kind: $(cat $kind.dot)"
		! command -v dot >dot.path || dot -Tplain $kind.dot >plain || fail "dot rejects $(cat $kind.dot)"
	done
	"$gprof_mt" report -i "$1" --format json locks >locks.json || fail "report locks"
	python3 "$GM_TOP/tests/graph/programs/check.py" lock-order.json wait.json locks.json user.txt \
		precedence.json ||
		fail "$1: $(cat lock-order.json wait.json precedence.json)"
	"$gprof_mt" report -i "$1" --format json callgraph >callgraph.json || fail "report callgraph"
	python3 - <<-'END' || fail "$1: $(cat calls.json)"
	import collections, json
	graph, report = json.load(open("calls.json")), json.load(open("callgraph.json"))
	name = {n["id"]: n["name"] for n in graph["nodes"]}
	shown = {(name[e["from"]], name[e["to"]]): e["count"] for e in graph["edges"]}
	want = collections.Counter()
	for arc in report["arcs"]:
	    want[arc["from"], arc["to"]] += arc["calls"]
	assert {pair: n for pair, n in want.items() if pair[0] != "<spontaneous>"} == shown, (want, shown)
	assert shown["forth", "take"] == 4 and shown["back", "take"] == 3 and shown["round_about", "take"] == 4
	calls = {n["name"]: n["calls"] for n in graph["nodes"]}
	assert calls["take"] == 11 and calls["run"] == 3 and calls["wait_for_main"] == 1, calls
	END
}

# Without wake-ups, and with them if they can be recorded.
"$gprof_mt" record -q -o user --set kernel.source=none ./orders || fail "record"
check user
"$gprof_mt" record -q -o all ./orders || fail "record"
check all

# The drawings contain the cycles, whatever else is omitted.
grep -q 'possible deadlock: .* holds pair_a since take .* wants pair_b in take' lock-order.dot ||
	fail "$(cat lock-order.dot)"
"$gprof_mt" graph -i all --kind lock-order --top 1 --min-count 100 >few.dot || fail "graph --top"
[ "$(grep -c 'color=red' few.dot)" = 7 ] && ! grep -q '"own_a' few.dot || fail "$(cat few.dot)"
grep -q 'left out: 8 arrows of less than 100, 10 acquisitions in all' few.dot || fail "$(cat few.dot)"

# Threads that cannot run at the same time cannot deadlock.
"$CC" -O1 -g -o sequential_orders "$GM_TOP/tests/graph/programs/sequential_orders.c" -pthread || fail "cannot compile"
for case in before:"threads never at the same time" after:"threads never at the same time" meanwhile:"possible deadlock"; do
	"$gprof_mt" record -q -o "${case%%:*}" --set kernel.source=none ./sequential_orders "${case%%:*}" || fail "record"
	"$gprof_mt" graph -i "${case%%:*}" --kind lock-order --format json >orders.json || fail "graph"
	python3 - "${case#*:}" <<-'END' || fail "$case: $(cat orders.json)"
	import json, sys
	assert [c["verdict"] for c in json.load(open("orders.json"))["cycles"]] == [sys.argv[1]]
	END
done
