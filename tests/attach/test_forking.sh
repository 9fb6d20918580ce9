#!/bin/bash
# SPDX-License-Identifier: MIT
# A process that forks all the time, also while record attaches and detaches: each thread that ended during the
# recording has run.
. "$GM_TOP/tests/attach/common.sh"
need jq
! "$gprof_mt" doctor | grep '^no *context-switch records' || skip "context-switch records are not permitted"
build forks -pthread
./forks >known.out &
known=$!
# They delay the recorder, and move the children from CPU to CPU.
./forks >others.out &
others=$!
./forks >>others.out &
trap 'kill $known $others $! 2>/dev/null' EXIT
until_true 60 grep -q known known.out || fail "forks does not start"

n=0
for attempt in $(seq 16); do
	rm -rf gprof-mt.data
	"$gprof_mt" record --pid $known --duration 0.3s >out 2>err || fail "record: exit status $?: $(cat err)"
	# On a busy machine, record may come too late, and says so.
	! grep -q lost err || continue
	"$gprof_mt" report --format json threads >report.json 2>report.err || fail "report: $(cat report.err)"
	never=$(jq -c '(.threads | map(.start_ns + .lifetime_ns) | max) as $last |
		[.threads[] | select(.running_ns == 0 and .start_ns + .lifetime_ns < $last) | [.tid, .pid, .start_ns, .lifetime_ns]]' \
		report.json)
	[ "$never" = '[]' ] || fail "attempt $attempt: threads that ended and never ran: $never"
	n=$((n + 1))
	[ $n -lt 5 ] || break
done
[ $n -gt 0 ] || skip "the machine is too busy"
# Processes that it starts have no samples.
if [ "$(jq "[.threads[] | select(.running_ns > 0 and .tid != $known)] | length" report.json)" -gt 0 ]; then
	"$gprof_mt" report calltree >report.txt 2>&1 || fail "report: $(cat report.txt)"
	grep -qE 'note: [0-9]+ threads? ha(s|ve) no samples, and ran for .* in all: they are of processes that' report.txt ||
		fail "expected a note on threads without samples: $(cat report.txt)"
fi
exit 0
