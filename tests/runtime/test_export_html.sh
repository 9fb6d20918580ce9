#!/bin/bash
# SPDX-License-Identifier: MIT
# The data in the page of export --format html: its figures are those of report, history, graph and folded stacks,
# of all, of parts of the time and of some threads; where there is little or nothing to show, or something is
# damaged, it says so.
. "$GM_TOP/tests/runtime/history/common.sh"
gprof_mt=$GM_BUILD/gprof-mt
html=$GM_TOP/tests/runtime/html

# page STATUS FILE OPTION...: of gprof-mt.data, on standard error what it says
page()
{
	local want=$1 file=$2 got=0
	shift 2
	"$gprof_mt" export --format html -o "$file" "$@" 2>err || got=$?
	[ $got -eq "$want" ] || fail "export $*: exit status $got: $(cat err)"
}

# same FILE OPTION...: its figures are the reports'
same()
{
	python3 "$html/check.py" "$gprof_mt" gprof-mt.data "$@" >out || fail "$*: $(cat out)"
	cat out
}

# shows FILE EXPRESSION: of the document, in Python
shows()
{
	PYTHONPATH=$html python3 -c 'import page, sys
doc = page.read(sys.argv[1])
missing = " ".join(m["what"] + ": " + m["reason"] for m in doc["missing"])
sys.exit(not eval(sys.argv[2]) and f"{sys.argv[2]}: {missing}")' "$@" || fail "$1"
}

record() { fresh "$gprof_mt" record -q "$@" >out 2>err || fail "record $*: $(cat err)"; }

# Without scheduling events, and with those that there are here.
for example in philosophers client_server; do
	"$CC" -std=gnu17 -O1 -g -pthread -pg -I"$GM_TOP/examples" -o $example "$GM_TOP/examples/$example.c" ||
		fail "cannot compile $example"
done
record --set kernel.source=none ./philosophers 4 60
if ! "$gprof_mt" export --format html -o page 2>err; then
	grep -q 'built without its page' err || fail "export: $(cat err)"
	[ ! -e page ] || fail "it left a page"
	echo "gprof-mt was built without its page"
	exit 77
fi
same page
shows page 'set(doc["sums"]["threads"]["running"]) == {None}'
shows page '"whether a thread ran is not known" in missing and "Wall time: it takes a history" in missing'
# A line of the program, with those around it.
shows page 'any("sem_wait(" in dict(doc["files"][s["file"]]["lines"])[s["line"]] for s in doc["sites"])'
shows page 'all(0 < len(f["lines"]) for f in doc["files"])'
# What info.json says is as it may.
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
shows page '"calls that did not wait: they were counted only" in missing'
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
# From when a thread began, so there is something.
read -r from to < <(PYTHONPATH=$html python3 -c 'import page
doc = page.read("page")
start = next(t["start_ns"] for t in doc["threads"] if t["name"] == "phil-0")
print(start, (start + doc["end_ns"]) // 2)')
page 0 part --time "${from}ns~${to}ns"
same part --time="${from}ns~${to}ns"
shows part "doc['from_ns'] == $from and doc['end_ns'] == $to - $from"
page 1 none --time 1000~
grep -q 'nothing is in all that is selected' err || fail "--time 1000~: $(cat err)"
[ ! -e none ] || fail "--time 1000~: it left a page"
"$gprof_mt" export --format html --object table -o part 2>err && fail "--object: exit status 0"
grep -q -- '--object: it cannot be narrowed by that' err || fail "--object: $(cat err)"

# A history of calls, with and without returns.
configure
for flags in "-pg -mfentry -minstrument-return=call" -pg; do
	# shellcheck disable=SC2086 # several flags
	build sequence sequence.c $flags
	fresh ./sequence tree 2 || fail "$flags: exit status $?"
	page 0 page
	same page
done
shows page '"Wall time: it takes a history of calls with returns" in missing'
rm gprof-mt.conf

# Nothing, and next to nothing.
record --profile applic-only --set sample.hz=0 true
page 0 page
shows page 'doc["waits"]["n"] == 0 and doc["objects"] == [] and doc["findings"] == []'
shows page '"synchronization: no operation was recorded" in missing and "no calls were counted" in missing'
rm -rf gprof-mt.data
"$GM_BUILD/tests/ctf/make_capture" gprof-mt.data 1 2
page 0 page
same page
shows page 'sum(doc["sums"]["operations"]["count"]) == 2 and doc["bins"] == 256'
rm -rf gprof-mt.data
"$GM_BUILD/tests/ctf/make_capture" gprof-mt.data every
page 0 page
same page

# More than finds room: the sums are right all the same.
"$CC" -std=gnu17 -O1 -g -pthread -o bench_page "$GM_TOP/tests/bench/bench_page.c" || fail "cannot compile bench_page"
record ./bench_page 20 450 8000
page 0 page
same page
shows page '"combinations are shown without their place and object" in missing'

# Damaged: it shows what there is.
record ./philosophers 4 60
stream=$(find gprof-mt.data/[0-9]*/user -name 'stream_1*' | head -1)
truncate -s $(($(stat -c %s "$stream") / 2)) "$stream"
page 1 page
shows page '"damage: " in missing and doc["waits"]["n"] >= 0'
exit 0
