#!/bin/bash
# SPDX-License-Identifier: MIT
# The data in the page of export --format html: its figures are those of report, history and graph, for
# everything, for parts of the time and for some threads.
. "$GM_TOP/tests/export/html.sh"

# Without scheduling events, and with those that are permitted here.
for example in philosophers client_server; do
	"$CC" -std=gnu17 -O1 -g -pthread -pg -I"$GM_TOP/examples" -o $example "$GM_TOP/examples/$example.c" ||
		fail "cannot compile $example"
done
record --set kernel.source=none ./philosophers 4 60
if ! "$gprof_mt" export --format html -o page 2>err; then
	grep -q 'built without its page' err || fail "export: $(cat err)"
	[ ! -e page ] || fail "a page is left"
	echo "gprof-mt was built without its page"
	exit 77
fi
same page
shows page 'set(doc["sums"]["threads"]["running"]) == {None}'
shows page '"when threads ran is unknown" in missing and "Wall time: needs a history" in missing'
# A line of the program, which calls a wrapper of sem_wait(), with those around it.
shows page 'any("Wait(first)" in dict(doc["files"][s["file"]]["lines"])[s["line"]] for s in doc["sites"])'
shows page 'all(0 < len(f["lines"]) for f in doc["files"])'
# Members of info.json may be missing or empty.  The list of files would show that it was changed.
rm gprof-mt.data/files
cp gprof-mt.data/info.json info.json
jq '.command = []' info.json >gprof-mt.data/info.json
page 0 nameless
[ ! -s err ] || fail "no command: $(cat err)"
cp info.json gprof-mt.data/info.json
page 0 bare --no-sources
shows bare 'all(f["lines"] == [] and f["why"] for f in doc["files"])'

record --set sync.mode=contended ./client_server 8 40
page 0 page
same page
shows page '"calls that did not wait: they were only counted" in missing'
record ./client_server 8 40
page 0 page
same page
record ./philosophers 4 60
page 0 page
same page
tid=$("$gprof_mt" report --format json threads | python3 -c 'import json, sys
print(json.load(sys.stdin)["threads"][2]["tid"])')
page 0 part --tid "$tid"
same part --tid="$tid"
page 0 part --thread 'phil-[12]'
same part --thread='phil-[12]'
# From the start of a thread, so that the selection is not empty.
read -r from to < <(PYTHONPATH=$html python3 -c 'import page
doc = page.read("page")
start = next(t["start_ns"] for t in doc["threads"] if t["name"] == "phil-0")
print(start, (start + doc["end_ns"]) // 2)')
page 0 part --time "${from}ns~${to}ns"
same part --time="${from}ns~${to}ns"
shows part "doc['from_ns'] == $from and doc['end_ns'] == $to - $from"
page 1 none --time 1000~
grep -q 'the selection is empty' err || fail "--time 1000~: $(cat err)"
[ ! -e none ] || fail "--time 1000~: a page is left"
"$gprof_mt" export --format html --object table -o part 2>err && fail "--object: exit status 0"
grep -q -- '--object: this command does not accept it' err || fail "--object: $(cat err)"
exit 0
