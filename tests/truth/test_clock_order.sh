#!/bin/bash
# SPDX-License-Identifier: MIT
# One clock for threads, CPUs and the kernel's events: no effect is stamped before its cause by more than
# `report quality` states.
. "$GM_TOP/tests/lib.sh"
"$CC" -O2 -g -o baton "$GM_TOP/tests/truth/programs/order/baton.c" -pthread || fail "cannot compile"

"$gprof_mt" record -q --set sync.mode=all ./baton 3000 >out 2>err || fail "record: $(cat err)"
"$gprof_mt" report --format json quality >quality.json || fail "report"
order_ns=$(jq -e '.clock[0].order_ns' quality.json) || fail "no bound: $(cat quality.json)"
[ "$(jq '.clock[0].threads' quality.json)" = 2 ] || fail "$(cat quality.json)"
python3 "$GM_TOP/tests/truth/programs/order/check.py" gprof-mt.data "$order_ns" ||
	fail "an effect before its cause by more than $order_ns ns"
