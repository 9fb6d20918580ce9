#!/bin/bash
# SPDX-License-Identifier: MIT
# Reports of a program that is still running: each ends, says so and until when, and shows one state: waits by
# object equal waits by thread, and no figure decreases.  After the end nothing is said any more, and a
# report has all operations.  First the files grow while they are read; then all threads are blocked.
. "$GM_TOP/tests/lib.sh"
need python3
build running
rounds=100000

# Prints the figures of a report: covered time, operations, waits by thread and by object, problems.
figures()
{
	python3 - "$1" <<-'END'
	import json, sys
	tables = json.load(open(sys.argv[1]))
	summary = tables["summary"][0]
	def add(rows, key):
	    return sum(row[key] or 0 for row in rows)
	print(summary["wall_ns"], summary["sync_calls"] or 0, add(tables["sync"], "wait_ns"),
	      add(tables["locks"], "wait_ns"), summary["problems"])
	END
}

# one_report: writes figures of the running program to `now`.
one_report()
{
	timeout 150 "$gprof_mt" report --format json summary sync locks quality >json 2>err ||
		fail "$1: status $?: $(cat err)"
	grep -q 'still running; this report covers the first [0-9.]* s' err || fail "$1: $(cat err)"
	[ "$(wc -l <err)" = 1 ] || fail "$1: $(cat err)"
	grep -q '"still_running" : 1' json || fail "$1: $(cat json)"
	grep -q 'nothing lost' json && fail "$1: $(cat json)"
	figures json >now || fail "$1: $(cat json)"
	read -r wall calls by_thread by_object problems <now
	[ "$by_thread" = "$by_object" ] || fail "$1: waits by thread $by_thread, by object $by_object"
}

# watch NAME OPTION...: reports until all operations are seen, and then twice more.
watch()
{
	local name=$1 left=200 more=2 last_wall=0 last_calls=0 last_by_thread=0
	shift
	rm -f input out
	mkfifo input
	"$gprof_mt" record -q "$@" -- ./running $rounds <input >out 2>record.err &
	exec 9>input
	until_true 60 grep -q begun out || fail "$name: it does not run: $(cat record.err)"
	while [ $more -gt 0 ]; do
		[ $((left -= 1)) -gt 0 ] || fail "$name: $calls of $((8 * rounds)) operations in 200 reports"
		one_report "$name"
		[ "$wall" -ge $last_wall ] || fail "$name: covers $last_wall, then $wall ns"
		[ "$calls" -ge $last_calls ] || fail "$name: $last_calls, then $calls operations"
		[ "$by_thread" -ge $last_by_thread ] || fail "$name: waits of $last_by_thread, then $by_thread ns"
		last_wall=$wall last_calls=$calls last_by_thread=$by_thread
		[ "$calls" -lt $((8 * rounds)) ] || more=$((more - 1))
	done
	[ "$problems" = 0 ] || fail "$name: $("$gprof_mt" report quality)"
	for section in summary quality; do
		"$gprof_mt" report $section 2>/dev/null | grep -q 'still running; this report covers the first' ||
			fail "$name: $section: $("$gprof_mt" report $section)"
	done
	"$gprof_mt" report summary 2>&1 | grep -q 'lost  *nothing' && fail "$name: nothing lost"
	exec 9>&-
	wait $! || fail "$name: $(cat out record.err)"
	"$gprof_mt" report summary quality >text 2>err || fail "$name: $(cat err)"
	[ ! -s err ] && ! grep -q 'still running' text && grep -q 'lost  *nothing' text ||
		fail "$name: after the end: $(cat text err)"
	"$gprof_mt" report --format json summary sync locks quality >json || fail "$name: no JSON"
	read -r _ calls _ < <(figures json)
	[ "$calls" -ge $last_calls ] || fail "$name: $last_calls operations, then $calls after the end"
}

watch 'without kernel events' --set kernel.source=none --set sync.mode=all
watch 'only waits' --set kernel.source=none --set sync.mode=contended
watch 'with kernel events' --set sync.mode=all
