#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Several readers start at the same time, and all try to move the places of children of fork into folders.  Each reader
# reports all children; afterwards the capture has exactly one folder for each child and no temporary files.
. "$GM_TOP/tests/lib.sh"

build fork_many
build robust/fork_steps
"$CC" -g -O1 -fPIC -shared -pthread -o loaded.so "$programs/fork_loaded.c" || fail "cannot compile"
rounds=10 readers=3

# read_at_once LOCKS: all readers read at once; each reports LOCKS locks and no problem
read_at_once()
{
	local i pids=()
	rm -f report.*
	for ((i = 0; i < readers; i++)); do
		"$gprof_mt" report --format json sync quality >report.$i 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || fail "round $round: a reader failed: $(tail -n 3 report.*)"
	done
	python3 - "$1" report.* <<-'PY' || fail "round $round: a reader lacks locks or reports problems"
	import json, sys
	bad = 0
	for path in sys.argv[2:]:
	    text, tables = open(path).read().lstrip(), {}
	    while text:
	        table, end = json.JSONDecoder().raw_decode(text)
	        tables.update(table)
	        text = text[end:].lstrip()
	    locks = sum(row["calls"] for row in tables["sync"] if row["function"] == "pthread_mutex_lock")
	    rows = [row for row in tables["quality"] if row.get("count") and "children of fork" in row["what"]]
	    if locks != int(sys.argv[1]) or rows:
	        print(f"{path}: {locks} of {sys.argv[1]} locks, {rows}")
	        bad = 1
	sys.exit(bad)
	PY
}

# one_each: the capture has one folder for each image, and no temporary file of a reader
one_each()
{
	local left
	left=$(find gprof-mt.data -maxdepth 1 -name '.*')
	[ -z "$left" ] || fail "round $round: temporary files are left: $left"
	python3 - <<-'PY' || fail "round $round: a child has several folders"
	import collections, glob, struct, sys
	images = collections.Counter(open(path, "rb").read(80)[72:80] for path in glob.glob("gprof-mt.data/*/threads"))
	sys.exit(any(n > 1 for n in images.values()))
	PY
}

total=0
for ((round = 1; round <= rounds; round++)); do
	LD_PRELOAD=$libsync fresh ./fork_many 40 >out || fail "fork_many: $(cat out)"
	expected=$(awk '$1 == "locks" && NF == 2 { print $2 }' out | tail -1)
	[ -n "$(find gprof-mt.data -name 'children.*')" ] || fail "the capture has no file of places (children.*) to test"
	read_at_once "$expected"
	one_each
	[ -z "$(find gprof-mt.data -name 'children.*')" ] || fail "round $round: a file of places (children.*) is left"
	total=$((total + expected))
done
echo "$rounds captures, $readers readers at once: $total locks each"

# While the child runs, each reader copies its place.
rm -rf gprof-mt.data to from
mkfifo to from
LD_PRELOAD=$libsync ./fork_steps place <to >from &
program=$!
exec 3>to 4<from
read -r -t 60 word <&4 && [ "$word" = ready ] || fail "expected 'ready' from the child, found '$word'"
for ((round = 1; round <= rounds; round++)); do
	read_at_once $((1 + 5 * round))
	one_each
	printf x >&3
	read -r -t 60 word <&4 && [ "$word" = again ] || fail "expected 'again' from the child, found '$word'"
done
exec 3>&-
wait "$program" || fail "fork_steps: exit status $?"
exec 4>&-
echo "$rounds times, $readers readers of a child that runs"
exit 0
