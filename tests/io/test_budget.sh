#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread whose blocking calls cost more than sync.budget, and its locks less, is recorded in full: recording only its
# waits would not make the calls cheaper.
. "$GM_TOP/tests/io/common.sh"
need jq

printf '[sync]\nbudget = 5\n[io]\nthreshold = 0\n' >auto.conf
build mostly_io -O2
GPROF_MT_CONFIG=$PWD/auto.conf traced ./mostly_io 20000 || fail "the program fails when traced"
"$gprof_mt" report --format json sync io quality >report.json || fail "report: exit status $?"
calls=$(jq '[.io[] | select(.call == "poll") | .calls] | add' report.json)
[ "$calls" = 400000 ] || fail "expected 400000 calls of poll, found $calls"
[ "$(jq '.sync_switched | length' report.json)" = 0 ] || fail "the thread is not recorded in full: $(jq -c .sync_switched report.json)"
