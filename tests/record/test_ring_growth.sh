#!/bin/bash
# SPDX-License-Identifier: MIT
# Rings grow when they are found nearly full, and nothing is lost or told twice meanwhile; where they
# may not grow, what is lost is counted for each CPU.
. "$GM_TOP/tests/lib.sh"
"$gprof_mt" record -q -o try --profile full-sched --set kernel.source=switches true
[ "$(info 'kernel source' try)" = switches ] || skip "context-switch records are not permitted here"
build bursts -O2

rings()
{
	rm -rf data data.old
	python3 "$GM_TOP/tests/record/programs/rings.py" "$gprof_mt" "$@" || fail "see above; $(cat err)"
}
rings full
retry rings grow
! can_trace || rings overrun
