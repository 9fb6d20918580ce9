#!/bin/bash
# SPDX-License-Identifier: MIT
# A stream of samples with a sample of more CPU time than has passed, or of none, is damaged: all readers say so, and
# leave out that time.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"
need jq python3
export -n GPROF_MT_CONFIG

"$CC" -std=gnu17 -D_GNU_SOURCE -Wall -O2 -g -o paths "$programs/paths.c" -pthread || fail "cannot compile"
"$gprof_mt" record -q --set kernel.source=none --set sample.hz=250 --set sync.mode=all -- ./paths 300 2 >out ||
	fail "record: exit status $?"
stream=$(echo gprof-mt.data/*/samples/stream_1)
cp "$stream" good
"$gprof_mt" report quality calltree >report.txt 2>err || fail "a good capture: exit status $?: $(cat report.txt err)"

for n in 0 100000 4294967295; do
	python3 "$programs/change_sample.py" "$stream" $n || fail "change_sample.py"
	for section in quality calltree callgraph; do
		"$gprof_mt" report --format json $section >report.json 2>err
		[ $? = 1 ] || fail "n = $n, $section: expected exit status 1: $(cat err)"
		grep -qF "stream_1 has samples of more CPU time than has passed" err ||
			grep -qF "stream_1: has samples of more CPU time than has passed" err ||
			fail "n = $n, $section: expected a line on the damage, found: $(cat err)"
	done
	"$gprof_mt" report --format json quality >report.json 2>/dev/null
	[ "$(jq '[.quality[] | select(.what | test("more CPU time"))] | length' report.json)" = 1 ] ||
		fail "n = $n: expected a row of the quality section: $(jq -c .quality report.json)"
	"$gprof_mt" report --format json calltree >report.json 2>/dev/null
	[ "$(jq '[.calltree_threads[] | select(.cpu_ns < 0 or .cpu_ns > .lifetime_ns + 40000000)] | length' report.json)" = 0 ] ||
		fail "n = $n: impossible times: $(jq -c .calltree_threads report.json)"
	"$gprof_mt" export --format pprof -o out.pb >err 2>&1
	[ $? = 1 ] || fail "n = $n: export: expected exit status 1: $(cat err)"
done
cp good "$stream"
"$gprof_mt" report quality >report.txt 2>err || fail "the stream as it was: exit status $?: $(cat report.txt err)"
exit 0
