#!/bin/bash
# SPDX-License-Identifier: MIT
# graph --kind sydg of a program with known waits: kinds of edges, their strokes, the legend; instances in a short time.
# Its edges have the waits of `report bottlenecks`.
. "$GM_TOP/tests/lib.sh"
need python3
export PYTHONPATH=$GM_TOP/tests/captures PYTHONDONTWRITEBYTECODE=1
"$CC" -O1 -g -D_GNU_SOURCE -I"$GM_TOP/tests" -fno-inline -o chain "$GM_TOP/tests/graph/programs/chain.c" -pthread ||
	fail "cannot compile"
"$gprof_mt" record -q -o d --set kernel.source=none ./chain || fail "record"
"$gprof_mt" report -i d --format json bottlenecks >report.json || fail "report"

sydg()
{
	"$gprof_mt" graph -i d --kind sydg "$@" 2>err || fail "graph --kind sydg $*: $(cat err)"
}

sydg --format json >all.json
sydg --format json --time 0~3600 >instances.json
sydg --format json --time 3599~3600 >none.json
python3 - <<'END' || fail "see above: $(cat all.json instances.json)"
import collections, json, sums
report, graph = json.load(open("report.json")), json.load(open("all.json"))
assert not list(sums.waits_by_edge(report, graph)), list(sums.waits_by_edge(report, graph))
node = {row["id"]: row for row in graph["nodes"]}
def name(number):
    return node[number]["entry"].split(" (")[0] + " " + node[number]["lock"]
edges = {(name(e["from"]), name(e["to"]), e["kind"]): e for e in graph["edges"]}
# Both that wait for `outer` wait for main while middle does.
assert edges["main inner", "middle inner", "direct"]["count"] == 1, edges
nested = edges["main inner", "last outer", "nested"]
assert nested["count"] == 2 and nested["wait_ns"] > 0, nested
assert edges["middle outer", "last outer", "direct"]["count"] == 2, edges
assert edges["last outer", "last outer", "indirect"]["count"] == 1, edges
assert sum(e["count"] for key, e in edges.items() if key[0] == "main met" and key[2] == "barrier") == 3, edges
# The nodes are the rows of `bottlenecks`, in their order.
def code(row):
    return row["entry"], row["exit"], row["path"], row["apwt_ns"]
assert [code(row) for row in graph["nodes"]] == [code(row) for row in report["bottlenecks"]]

parts = json.load(open("instances.json"))
of = {row["id"]: row for row in parts["nodes"]}
assert all(row["name"].startswith("d") and row["tid"] for row in parts["nodes"]), parts["nodes"]
def by_code(edges, nodes):
    found = collections.Counter()
    for edge in edges:
        found[nodes[edge["from"]]["entry"], nodes[edge["to"]]["entry"], edge["kind"]] += edge["wait_ns"]
    return found
assert by_code(parts["edges"], of) == by_code(graph["edges"], node)
assert [row["since_ns"] for row in parts["nodes"]] == sorted(row["since_ns"] for row in parts["nodes"])
assert not json.load(open("none.json"))["nodes"]
END

sydg >all.dot
sydg --time 0~3600 >instances.dot
for file in all instances; do
	for stroke in style=dotted style=dashed 'color="black:black"'; do
		grep -q -- "-> .*$stroke" $file.dot || fail "expected arrows with $stroke: $(cat $file.dot)"
	done
	grep -q 'dotted: A obtained it during the wait' $file.dot || fail "no legend: $(cat $file.dot)"
	[ ! -x "$(command -v dot)" ] || dot -Tplain $file.dot >plain || fail "dot rejects $(cat $file.dot)"
done
grep -q 'label="CS[0-9]*\\nouter\\nmiddle (chain.c:[0-9]*)\\nmiddle (chain.c:[0-9]*)' all.dot || fail "$(cat all.dot)"
grep -q 'label="d[0-9]*, CS[0-9]*\\nouter' instances.dot || fail "$(cat instances.dot)"
[ "$(grep -c 'subgraph cluster' instances.dot)" = 4 ] || fail "expected a box for each thread: $(cat instances.dot)"

# Too many instances: sections again, and a note says so.
cat >many.c <<'END'
#include <pthread.h>
static pthread_barrier_t met;
static void *run(void *unused)
{
	for (int i = 0; i < 300; i++)
		pthread_barrier_wait(&met);
	return unused;
}
int main(void)
{
	pthread_t other;
	pthread_barrier_init(&met, NULL, 2);
	pthread_create(&other, NULL, run, NULL);
	run(NULL);
	return pthread_join(other, NULL);
}
END
"$CC" -O1 -g -o many many.c -pthread || fail "cannot compile"
rm -rf d
"$gprof_mt" record -q -o d --set kernel.source=none ./many || fail "record"
sydg --format json --time 0~3600 >many.json
python3 - <<'END' || fail "$(cat many.json)"
import json
graph = json.load(open("many.json"))
assert [row["name"] for row in graph["nodes"]][:1] == ["CS1"], graph["nodes"]
assert {row["kind"] for row in graph["edges"]} == {"barrier"} and len(graph["edges"]) <= 4, graph["edges"]
assert 200 < sum(row["count"] for row in graph["edges"]) <= 300, graph["edges"]
assert any("more than 200 instances" in note["note"] for note in graph["notes"]), graph["notes"]
END

# An option that does not apply, and a capture without the events.
"$gprof_mt" graph -i d --kind sydg --tid 1 >out 2>err
[ $? = 2 ] && grep -q -- '--tid' err || fail "--tid: $(cat err)"
rm -rf d
"$gprof_mt" record -q -o d --set sync.mode=off ./many || fail "record"
"$gprof_mt" graph -i d --kind sydg >out 2>err
[ $? = 1 ] && grep -q 'no synchronization events' err && [ ! -s out ] || fail "$(cat out err)"
