#!/bin/bash
# SPDX-License-Identifier: MIT
# Snapshots of a recording that has attached: by SIGUSR2 to record, by the pid of the process, by the capture. They have
# the threads, their scheduling and samples up to their instant, and the recording goes on.
. "$GM_TOP/tests/attach/common.sh"
need jq
! "$gprof_mt" doctor | grep '^no *context-switch records' || skip "context-switch records are not permitted"
start_known

# has_threads CAPTURE: fails unless it has the threads of the process, with running time.
has_threads()
{
	"$gprof_mt" report -i "$1" --format json threads >report.json 2>report.err ||
		fail "$1: exit status $?: $(cat report.err)"
	[ "$(jq '[.threads[] | select(.running_ns > 0)] | length' report.json)" -ge 2 ] ||
		fail "$1: expected threads that ran: $(jq -c '.threads' report.json)"
}

fails 1 "process $known is not recorded" snapshot "$known"
attach
witness begin.witness
until_true 60 has_worked begin.witness || fail "the threads do not run"
kill -USR2 "$recorder"
until_true 60 test -d gprof-mt.data.snapshot.1 || fail "no snapshot after SIGUSR2: $(cat err)"
has_threads gprof-mt.data.snapshot.1
"$gprof_mt" snapshot "$known" >line 2>&1 || fail "snapshot of the process: exit status $?: $(cat line)"
grep -q 'gprof-mt.data.snapshot.2: a snapshot, taken' line || fail "expected a line, found: $(cat line)"
has_threads "$(cut -d: -f1 line)"
"$gprof_mt" snapshot -o third gprof-mt.data >line 2>&1 || fail "snapshot of the capture: exit status $?: $(cat line)"

[ "$(info "snapshot time_ns" third)" -gt "$(info "snapshot time_ns" gprof-mt.data.snapshot.1)" ] ||
	fail "expected a later instant"
"$gprof_mt" snapshot -o gprof-mt.data/kernel/../fourth >line 2>&1 && fail "a snapshot within the capture: $(cat line)"
grep -qF 'is inside the capture gprof-mt.data; choose another directory (-o)' line || fail "expected a line, found: $(cat line)"
[ ! -e gprof-mt.data/fourth ] || fail "a snapshot within the capture"

# Just before the end.
kill -USR2 "$recorder"
end_attach
[ -d gprof-mt.data.snapshot.3 ] || fail "no snapshot of the last moment: $(cat err)"
[ "$(grep -c 'a snapshot, taken .*(SIGUSR2)' err)" = 2 ] || fail "expected two lines on snapshots: $(cat err)"
has_threads gprof-mt.data
fails 1 "process $known is not recorded" snapshot "$known"
exit 0
