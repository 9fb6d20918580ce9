#!/bin/bash
# SPDX-License-Identifier: MIT
# The call tree: waits by call path are those of sections paths and sync, in text, JSON and CSV, top-down and
# bottom-up; for a program built with -O2, and for Debian's xz.
. "$GM_TOP/tests/lib.sh"
need python3
export PYTHONPATH=$GM_TOP/tests/captures PYTHONDONTWRITEBYTECODE=1

report()
{
	"$gprof_mt" report -i d "$@" 2>err || fail "report $*: $(cat err)"
}

cat >check.py <<'END'
"""check.py: the waits of the tree are those of the other sections, whose sums are made in other ways."""
import collections, json, sums

tree, others, up = json.load(open("tree.json")), json.load(open("others.json")), json.load(open("up.json"))
wrong = sums.mismatches(others | tree) + sums.mismatches(others | up)
assert not wrong, wrong

ids = [row["id"] for row in tree["calltree"]]
assert ids == list(range(1, len(ids) + 1)), "ids"
by_id = {row["id"]: row for row in tree["calltree"]}
for row in tree["calltree"]:
    parent = by_id.get(row["parent"])
    assert row["parent"] is None or row["parent"] < row["id"], "a row before the one above"
    assert row["level"] == (parent["level"] + 1 if parent else 1), row
    assert row["path"] == (parent["path"] + " > " if parent else "") + row["function"], row

# Where each wait has a path, the tree's leaves are the rows of section paths.
want = collections.Counter()
for row in others["paths"]:
    if row["wait_ns"] is not None:
        frames = [frame.split(" x")[0] for frame in row["path"].split(" < ")]
        want[" > ".join(frames[::-1] + [row["function"]])] += row["wait_ns"]
got = collections.Counter({row["path"]: row["self_wait_ns"] + (row["self_blocking_ns"] or 0) for row in tree["calltree"]
                           if not row["path"].startswith("[no call path]")})
assert +want == +got, (want - got, got - want)
assert len(want) >= WANTED, want

# Bottom-up, the roots are the functions that waited.
want, got = collections.Counter(), collections.Counter()
for row in others["sync"]:
    want[row["function"]] += row["wait_ns"] or 0
for row in up["calltree"]:
    if row["parent"] is None:
        got[row["function"]] += row["wait_ns"]
assert +want == +got, (want, got)
END

# check N: at least N paths have waits.
check()
{
	report --format json calltree >tree.json
	report --format json --bottom-up calltree >up.json
	report --format json threads sync locks io paths >others.json
	sed "s/WANTED/$1/" check.py | python3 - || fail "the figures of the tree"
}

"$CC" -std=gnu17 -O2 -g -pthread -fomit-frame-pointer -o paths "$GM_TOP/tests/sync/programs/paths.c" ||
	fail "cannot compile paths"
status=0
"$gprof_mt" record -q -o d --set sync.paths=0ns --set kernel.source=none -- ./paths >out 2>&1 || status=$?
[ $status -eq 9 ] || fail "paths: exit status $status: $(cat out)"
check 3

# Text: chains of single callees share a line.
report calltree >text
grep -q 'one > take > pthread_mutex_lock$' text || fail "no chain of functions: $(cat text)"
report --bottom-up calltree >text
grep -q ' pthread_mutex_lock < take < one < ' text || fail "no function with its callers: $(cat text)"

# --top keeps the nodes with the most time, and those above them; CSV has the rows of JSON.
report --format json --top 4 calltree >top.json
report --format csv --table calltree calltree >tree.csv
python3 - <<'END' || fail "--top 4, CSV"
import csv, json
tree, top = (json.load(open(name))["calltree"] for name in ("tree.json", "top.json"))
assert [row["id"] for row in top] == sorted(row["id"] for row in top) and len(top) == 4, top
ids = {row["id"] for row in top}
assert all(row["parent"] is None or row["parent"] in ids for row in top), top
assert min(row["wall_ns"] for row in top) >= max(row["wall_ns"] for row in tree if row["id"] not in ids)
rows = list(csv.DictReader(open("tree.csv")))
assert [(row["path"], row["wall_ns"]) for row in rows] == [(row["path"], str(row["wall_ns"])) for row in tree]
END
status=0
"$gprof_mt" report -i d --bottom-up threads 2>err || status=$?
same "exit status of --bottom-up threads" 2 "$status"
grep -q 'bottom-up is for sections calltree and blame-tree' err || fail "--bottom-up threads: $(cat err)"

# --group: a tree for each group of threads.
"$gprof_mt" record -q -o d -- "$GM_BUILD/examples/philosophers" 5 20 >out 2>&1 || fail "philosophers: $(cat out)"
report --group --format json calltree sync threads locks >groups.json
python3 - <<'END' || fail "--group"
import json, sums
report = json.load(open("groups.json"))
roots = [row for row in report["calltree"] if row["parent"] is None]
assert sorted(row["function"].split(" (")[0] for row in roots) == ["1 thread of group philosophers",
                                                                    "5 threads of group dine"], roots
assert sum(row["wait_ns"] for row in roots) == sum(row["wait_ns"] or 0 for row in report["sync"]), roots
END

# Debian's xz, not rebuilt: its waits have paths through liblzma, without frame pointers.
command -v xz >/dev/null || exit 0
head -c 3000000 /dev/urandom >random
"$gprof_mt" record -q -o d --set sync.paths=0ns -- xz -T3 --block-size=300000 -kc random >out.xz 2>err ||
	fail "xz: $(cat err)"
check 1
python3 - <<'END' || fail "xz"
import json
tree = json.load(open("tree.json"))["calltree"]
deep = [row for row in tree if row["self_wait_ns"] and row["level"] >= 4]
assert deep, [row["path"] for row in tree if row["self_wait_ns"]]
END
exit 0
