#!/bin/bash
# SPDX-License-Identifier: MIT
#
# SIGUSR2 to a record that has just begun does not end it: the snapshot is taken as soon as there is something.  The
# program gets the signal mask of record's caller.
# shellcheck source=tests/ring/common.sh
. "$GM_TOP/tests/ring/common.sh"

need jq
unset GPROF_MT_CONFIG LD_PRELOAD
build ring_waits
"$CC" -std=gnu17 -O1 -shared -fPIC -o stop_early.so "$programs/stop_early.c" 2>cc.err || fail "cannot compile: $(cat cc.err)"
mkfifo input

has_stopped()
{
	grep -q '^State:	T' "/proc/$1/status"
}

for source in none auto; do
	fresh :
	rm -rf gprof-mt.data.snapshot.*
	LD_PRELOAD=$PWD/stop_early.so "$gprof_mt" record --ring 4M --set sync.mode=all --set kernel.source=$source -- \
		./ring_waits 1 <input >out 2>err &
	record=$!
	exec 3>input
	until_true 60 has_stopped $record || fail "record does not look at the program: $(cat err)"
	kill -USR2 $record
	kill -CONT $record
	until_true 60 test -d gprof-mt.data.snapshot.1 || fail "no snapshot of a request at the begin: $(cat err)"
	until_true 60 grep -q ready out || fail "the program does not get ready: $(cat err)"
	exec 3>&-
	wait $record || fail "record: exit status $?: $(cat err)"
	grep -q 'gprof-mt.data.snapshot.1: a snapshot, taken .*(SIGUSR2)' err || fail "expected a line on the snapshot: $(cat err)"
	"$gprof_mt" report -i gprof-mt.data.snapshot.1 --format json threads >report.json 2>report.err ||
		fail "report of the snapshot: exit status $?: $(cat report.err)"
	[ "$(jq '.threads | length' report.json)" -ge 1 ] || fail "the snapshot has no thread"
done

grep '^Sig[BC]' /proc/self/status >expected
"$gprof_mt" record -q --set kernel.source=none -- grep '^Sig[BC]' /proc/self/status >out 2>err || fail "record: $(cat err)"
grep SigBlk expected | cmp - <(grep SigBlk out) || fail "expected the mask $(cat expected), found $(cat out)"
exit 0
