#!/bin/bash
# SPDX-License-Identifier: MIT
# `report critical-path` of real runs, against a walk back through the events that babeltrace2 prints.
. "$GM_TOP/tests/runtime/record/common.sh"
for tool in babeltrace2 jq python3; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done
can_trace || skip "perf's tracepoints are not permitted"
"$CC" -O2 -g -o known "$GM_TOP/tests/runtime/truth/known.c" -pthread || fail "cannot compile"

# Losses make two pictures of one run.
compare()
{
	rm -rf gprof-mt.data
	"$gprof_mt" record -q --set kernel.source=perf -- "$@" >out 2>err || fail "record: $(cat err)"
	jq -e '(.losses // [] | length) == 0' gprof-mt.data/info.json >/dev/null ||
		{ echo "events are missing"; return 1; }
	text gprof-mt.data >events
	"$gprof_mt" report --format json threads critical-path >report.json || fail "report"
	python3 "$GM_TOP/tests/runtime/path/walk.py" events report.json "$(info 'clock offset_ns')"
}
in_peace compare ./known
in_peace compare "$GM_BUILD/examples/philosophers" 5 100
# For a person: three tables, and the threads' shares are all of it.
"$gprof_mt" report critical-path >text || fail "report"
[ "$(grep -c '^Critical path: ' text)" = 3 ] || fail "$(cat text)"
jq -e '[.critical_threads[].path_pct] | add | . > 99.9 and . < 100.1' report.json >/dev/null ||
	fail "shares: $(jq -c .critical_threads report.json)"
jq -e '.critical_sites[] | select(.function == "eat")' report.json >/dev/null || fail "nobody ate on the path"

# To the end of one thread, whose own row is there, and that of whoever let it go on.
tid=$(jq '[.threads[] | select(.name == "phil-2") | .tid][0]' report.json)
"$gprof_mt" report --format json --tid "$tid" critical-path >one.json || fail "report --tid"
jq -e --argjson tid "$tid" '(.critical_threads | length >= 2) and any(.critical_threads[]; .tid == $tid)' \
	one.json >/dev/null || fail "--tid: $(jq -c .critical_threads one.json)"
