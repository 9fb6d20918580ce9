#!/bin/bash
# SPDX-License-Identifier: MIT
# `report critical-path` of real runs, compared with a backward walk through the events that babeltrace2
# prints.
. "$GM_TOP/tests/lib.sh"
need babeltrace2 jq python3
folder=$GM_TOP/tests/report/programs/critical_path

# The path by function, from calls with and without returns, with both sources of the path.
by_function()
{
	local source=$1 program=$2
	rm -rf gprof-mt.data
	"$gprof_mt" record -q --set calls.mode=history --set kernel.source="$source" -- "$program" >log 2>err ||
		fail "record: $(cat err)"
	"$gprof_mt" report --format json threads critical-path >report.json || fail "report"
	if [ "$source" = perf ]; then
		kernel_events gprof-mt.data >events
		python3 "$folder/walk.py" events report.json "$(info 'clock offset_ns')" segments &&
			python3 "$folder/functions.py" report.json log segments
	else
		python3 "$folder/functions.py" report.json log
	fi
}
"$CC" -O2 -g -pg -o entries "$folder/relay.c" -pthread || fail "cannot compile"
"$CC" -O2 -g -finstrument-functions -o returns "$folder/relay.c" -pthread || fail "cannot compile"
retry by_function none ./returns
jq -e '.critical_functions | map(select(.function == "idle")) == []' report.json >/dev/null ||
	fail "expected work that nothing waited for to be off the path: $(jq -c .critical_functions report.json)"
retry by_function none ./entries
"$gprof_mt" report critical-path | grep -q 'returns are not recorded' || fail "expected a note about missing returns"

can_trace || skip "perf's tracepoints are not permitted"
retry by_function perf ./returns
retry by_function perf ./entries
"$CC" -O2 -g -o known "$GM_TOP/tests/truth/programs/known.c" -pthread || fail "cannot compile"

# With lost events the two witnesses differ.
compare()
{
	rm -rf gprof-mt.data
	"$gprof_mt" record -q --set kernel.source=perf -- "$@" >out 2>err || fail "record: $(cat err)"
	jq -e '(.losses // [] | length) == 0' gprof-mt.data/info.json >/dev/null ||
		{ echo "events are missing"; return 1; }
	kernel_events gprof-mt.data >events
	"$gprof_mt" report --format json threads critical-path >report.json || fail "report"
	python3 "$folder/walk.py" events report.json "$(info 'clock offset_ns')"
}
retry compare ./known
retry compare "$GM_BUILD/examples/philosophers" 5 100
grep -q 'a history of calls' <("$gprof_mt" report critical-path) || fail "expected a note that functions need a history of calls"
# Text: four tables, and the threads' shares add up to 100 %.
"$gprof_mt" report critical-path >text || fail "report"
[ "$(grep -c '^Critical path: ' text)" = 4 ] || fail "$(cat text)"
jq -e '[.critical_threads[].path_pct] | add | . > 99.9 and . < 100.1' report.json >/dev/null ||
	fail "shares: $(jq -c .critical_threads report.json)"
jq -e '([.critical_sites[].path_ns] | add) == ([.critical_threads[].path_ns] | add) and
	all(.critical_sites[]; .path_ns == .running_ns + .runnable_ns + .blocked_ns + .unknown_ns + .outside_ns) and
	all(.critical_sites[]; .path_ns == ([.sites[].path_ns] | add))' report.json >/dev/null ||
	fail "critical_sites do not add up to the path: $(jq -c .critical_sites report.json)"
jq -e '.critical_sites[] | select(.function == "eat")' report.json >/dev/null || fail "expected eat() on the path"

# The path to the end of one thread: it has a row for this thread, and for the one that woke it.
tid=$(jq '[.threads[] | select(.name == "phil-2") | .tid][0]' report.json)
"$gprof_mt" report --format json --tid "$tid" critical-path >one.json || fail "report --tid"
jq -e --argjson tid "$tid" '(.critical_threads | length >= 2) and any(.critical_threads[]; .tid == $tid)' \
	one.json >/dev/null || fail "--tid: $(jq -c .critical_threads one.json)"
