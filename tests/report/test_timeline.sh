#!/bin/bash
# SPDX-License-Identifier: MIT
# The timeline of a thread that leaves its CPU for known reasons: each reason in order, with its object,
# holder and waker; without system calls in the capture, as far as possible.
. "$GM_TOP/tests/lib.sh"
can_trace || skip "perf tracepoints are not permitted here"
"$CC" -O2 -g -o reasons "$GM_TOP/tests/report/programs/timeline/reasons.c" -pthread || fail "cannot compile"

reasons()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	"$gprof_mt" record -q --profile $1 --set kernel.source=perf ./reasons >said 2>err ||
		fail "record: $(cat err)"
	! grep -q lost err || fail "$(cat err)"
	read -r _ thread _ _ _ main <said
	"$gprof_mt" timeline --tid "$thread" --format json >actor.json || fail timeline
	"$gprof_mt" timeline --tid "$main" --format json >main.json || fail timeline
	python3 "$GM_TOP/tests/report/programs/timeline/reasons.py" said actor.json main.json $1 \
		"$(info 'kernel filled_switches')" || fail "see above"
}
retry reasons full-sched
retry reasons full
# Our own system calls have no lines: a thread asks the kernel for its name.
[ "$(jq '[.timeline[] | select(.event == "syscall" and (.text | startswith("prctl(option=16,")))] | length' actor.json)" = 0 ] ||
	fail "$(jq -r '.timeline[] | select(.event == "syscall").text' actor.json)"
jq -e '.notes[] | select(test("^left out: [1-9][0-9]* system calls"))' actor.json >own_note ||
	fail "no note: $(jq -c .notes actor.json)"
read -r _ thread _ _ _ main <said

# The text has the same lines, with times in ms; a selected part of the time has the lines of that part.
# lines OUTPUT: without heading and notes
lines() { sed '1,3d; /^$/d; /^  note: /d' "$1"; }
"$gprof_mt" timeline --tid "$thread" >text || fail timeline
[ "$(lines text | wc -l)" = "$(jq '.timeline | length' actor.json)" ] || fail "lines: $(wc -l <text)"
grep -Eq '^ +[0-9]+\.[0-9]{6} +[0-9]+  off CPU +blocked on mutex lock, held by reasons \(tid '"$main"'\)' text ||
	fail "$(grep mutex text)"
from=$(awk '/off CPU.*semaphore/ { print $1; exit }' text)
to=$(awk '/off CPU.*condition/ { print $1; exit }' text)
"$gprof_mt" timeline --tid "$thread" --time "${from}ms~${to}ms" >part || fail "timeline of a part"
diff <(lines part) <(awk -v from="$from" -v to="$to" 'NR > 3 && $1 >= from && $1 < to' text) ||
	fail "expected the lines of the selected time"

# Selected by its name.
"$gprof_mt" timeline --thread 'reason?' --format json | diff main.json - || fail "--thread"

# A timeline that is impossible: one line, and an exit status.
fails 1 'no thread has tid 999999999' timeline --tid 999999999
fails 2 'exactly one thread is required' timeline --format json
fails 2 "; the tids are $main reasons" timeline
fails 2 ", $thread actor" timeline
fails 2 'exactly one thread is required: --tid T or --thread NAME; see' timeline -i none
fails 2 'exactly one thread is required' timeline --tid "$thread" --thread actor
fails 1 "no thread has a name that matches 'actress'" timeline --thread actress
fails 1 "threads have names like 'actor'; choose one by its --tid: $thread actor" timeline --thread actor
fails 2 "invalid --time '3s' (expected A~B" timeline --tid "$thread" --time 3s
fails 2 "invalid --time '3~2' (expected A~B" timeline --tid "$thread" --time 3~2
fails 2 '--object: this command does not accept it' timeline --tid "$thread" --object lock
fails 1 'none' timeline -i none --tid "$thread"
