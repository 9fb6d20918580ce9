#!/bin/bash
# SPDX-License-Identifier: MIT
# How a recording of a running process ends: after a duration, by signals, with the process, or killed. Each leaves a
# capture that can be read, and the process goes on. Meanwhile, reports show the part until now.
. "$GM_TOP/tests/attach/common.sh"
need python3
start_known

# ended_by REASON: the capture is complete, and tells the reason.
ended_by()
{
	[ "$(info complete)" = true ] || fail "not complete: $(cat gprof-mt.data/info.json)"
	same "reason" "$1" "$(info 'attached end')"
	! grep -qE '"(exit_status|signal|rusage)" *:' gprof-mt.data/info.json || fail "an exit status or usage is told"
	"$gprof_mt" report --format json summary threads >report.json || fail "report"
	python3 - "$known" <<-'END' || fail "see above"
	import json, sys
	report = json.load(open("report.json"))
	info = json.load(open("gprof-mt.data/info.json"))
	assert report["summary"][0]["wall_ns"] == info["end_ns"] - info["start_ns"], "wall time is not that of the recording"
	assert info["pid"] == int(sys.argv[1]) and info["command"] == ["./known"], info
	old = [t for t in report["threads"] if t["start_ns"] == info["start_ns"]]
	assert {t["name"] for t in old} >= {"known", "spinner", "sleeper", "ping", "pong", "maker"}, old
	END
}

for signal in INT TERM HUP; do
	attach
	kill -$signal $recorder
	wait $recorder
	same "exit status after SIG$signal" 0 $?
	ended_by signal
done

"$gprof_mt" record -o gprof-mt.data --pid "$known" --duration 20ms >out 2>err
same "exit status after a duration" 0 $?
ended_by duration
[ $(($(info end_ns) - $(info start_ns))) -ge 20000000 ] || fail "shorter than its duration"
[ -d gprof-mt.data.old ] || fail "the capture of a process that runs on was not moved"

# Replays need the synchronization, and comparisons of runs all of a run.
fails 1 'whose synchronization is not recorded: nothing can be replayed' replay gprof-mt.data
fails 1 'attached to a running process: its begin and its exit status are not known' suggest gprof-mt.data

# While it records, a report shows the first part; so does an ended one.
attach
has_part()
{
	"$gprof_mt" report --format json summary >part.json 2>part.err &&
		jq -e '.summary[0].still_running == 1 and .summary[0].wall_ns > 0' part.json >jq.out
}
until_true 60 has_part || fail "no report of a recording that goes on: $(cat part.err part.json)"
"$gprof_mt" record --pid "$known" --duration 1ms >out2 2>err2
same "exit status where another recording writes" 1 $?
grep -q 'still runs' err2 || fail "$(cat err2)"
# Killed: what was written by then can be read.
has_events()
{
	[ -n "$(find gprof-mt.data/kernel -name 'channel0_*' -size +0)" ]
}
until_true 60 has_events || fail "no events are written"
kill -KILL $recorder
wait $recorder 2>/dev/null
"$gprof_mt" report summary threads quality >report 2>&1 || fail "after a kill: $(cat report)"
grep -q 'record was killed, or has not ended' report || fail "the kill is not told: $(cat report)"
grep -q 'spinner' report || fail "no threads: $(cat report)"
! grep -q 'still running' report || fail "a killed recording still runs: $(cat report)"
"$gprof_mt" record --pid "$known" --duration 1ms >out 2>err || fail "after a kill: $(cat err)"
kill -0 "$known" || fail "the process has ended"

# The process ends.
attach
kill -TERM "$known"
wait $recorder
same "exit status after the process's end" 0 $?
[ "$(info 'attached end')" = exit ] || fail "$(info attached)"
"$gprof_mt" report summary >report 2>&1 && grep -q 'until it ended; its exit status is not known' report ||
	fail "$(cat report)"
