#!/bin/bash
# SPDX-License-Identifier: MIT
# A process of 200 threads: all are recorded, or, where descriptors do not suffice, the others are counted as a loss
# and have no figures. A process that executes another program or whose first thread has ended.
. "$GM_TOP/tests/attach/common.sh"
need python3 jq

start_many()
{
	build many
	rm -f known.out # of the last one
	./many "$@" >known.out &
	known=$!
	# shellcheck disable=SC2064 # expanded now on purpose
	trap "kill -KILL $known 2>/dev/null" EXIT
	until_true 60 grep -q ready known.out || fail "many does not start"
}

# In three sources, each of the 200 threads passes the turn on.
start_many 200 true
sources=(switches)
if has_bpf; then sources+=(bpf); fi
if can_trace; then sources+=(perf); fi
! "$gprof_mt" doctor | grep '^no *context-switch records' || skip "context-switch records are not permitted"
for source in "${sources[@]}"; do
	attach --set kernel.source="$source"
	has_turned()
	{
		[ "$(awk '/^voluntary/ { print $2 }' "/proc/$known/task/$last/status")" -ge $((before + 5)) ]
	}
	last=$(find "/proc/$known/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -n 1)
	before=$(awk '/^voluntary/ { print $2 }' "/proc/$known/task/$last/status")
	until_true 60 has_turned || fail "the turn does not come round"
	end_attach
	grep -q '; complete$' err || fail "$source: not complete: $(cat err)"
	"$gprof_mt" report --format json threads >report.json || fail report
	jq -e '.threads | length == 201 and ([.[] | select(.switches_voluntary > 0)] | length == 200)
		and all(.[]; .unknown_ns == 0)' report.json >jq.out || fail "$source: $(jq -c '.threads[:3]' report.json)"
done

# With 100 descriptors, some threads cannot have one for each CPU.
keep_captures .
rm -rf gprof-mt.data gprof-mt.data.old
(ulimit -n 100 && exec "$gprof_mt" record --pid "$known" --duration 100ms --set kernel.source=switches) >out 2>err ||
	fail "exit status $?: $(cat err)"
lost=$(sed -n "s/^gprof-mt: lost: $known: threads without scheduling events (Too many open files): //p" err)
[ -n "$lost" ] && [ "$lost" -gt 0 ] && [ "$lost" -lt 201 ] || fail "expected a loss of some threads: $(cat err)"
! grep -q '; complete$' err || fail "complete in spite of the loss: $(cat err)"
"$gprof_mt" report --format json threads >report.json || fail report
jq -e --argjson lost "$lost" '.threads | length == 201 and ([.[] | select(.running_ns == null)] | length == $lost)' \
	report.json >jq.out || fail "figures of threads without events: $(jq -c '[.threads[] | .running_ns]' report.json)"

# It executes a program, and ends with it.
attach
kill -USR2 "$known"
wait $recorder
same "exit status after an exec" 0 $?
[ "$(info 'attached end')" = exit ] || fail "$(info attached)"
"$gprof_mt" report summary threads quality >report 2>&1 || fail "$(cat report)"

# Its first thread ends.
start_many 2
kill -USR1 "$known"
has_ended()
{
	grep -q '^State:.Z' "/proc/$known/status"
}
until_true 60 has_ended || fail "the first thread does not end"
"$gprof_mt" record -o refused --pid "$known" >out 2>err
same "exit status without a first thread" 1 $?
grep -qx "gprof-mt: the first thread of process $known has ended: such a process cannot be recorded" err || fail "$(cat err)"
exit 0
