#!/bin/bash
# SPDX-License-Identifier: MIT
# A recording of a running process that is killed before any of its system calls leaves the process as it was, and a
# capture that can be read, or that has no data yet.
. "$GM_TOP/tests/attach/common.sh"

command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || skip "strace is not installed or cannot trace"
! "$gprof_mt" doctor | grep '^no *context-switch records' || skip "context-switch records are not permitted"
start_known
state_of "$known" >state.before

n_whole=0 n_empty=0 n_kills=0
# sound WHAT: the report finds no damage, or an empty capture.
sound()
{
	n_kills=$((n_kills + 1))
	[ -e gprof-mt.data/session ] || { n_empty=$((n_empty + 1)); return; }
	if ! "$gprof_mt" report --format json quality >report 2>report.err; then
		grep -q 'is an empty capture' report.err || fail "$1: $(cat report.err)"
		n_empty=$((n_empty + 1))
		return
	fi
	! grep -E '"what": "[^"]*(missing|invalid|cut short|damage|left out|skipped|cannot)' report ||
		fail "$1: expected no damage in the report"
	n_whole=$((n_whole + 1))
}

for call in openat mkdirat renameat write pwrite64 ftruncate poll signalfd4 perf_event_open; do
	[ $call = openat ] && step=7 || step=1
	for n in $(seq 1 $step $((20 * step))); do
		keep_captures .
		rm -rf gprof-mt.data gprof-mt.data.old
		strace -qq -o trace -e trace=$call -e inject=$call:signal=KILL:when="$n" "$gprof_mt" record -q \
			--pid "$known" --duration 1ms --set kernel.source=switches >out 2>err
		[ $? = 137 ] || break # fewer than n such calls
		sound "killed at $call $n"
	done
done
# How often it is killed late enough depends on the number of calls.
[ $n_whole -ge 3 ] || fail "expected at least 3 captures with a process, found $n_whole"
state_of "$known" >state.after
same "the state of the process" "$(cat state.before)" "$(cat state.after)"
echo "$n_kills kills: $n_whole captures without damage, $n_empty without a process"
