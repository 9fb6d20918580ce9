#!/bin/bash
# SPDX-License-Identifier: MIT
# Rings grow when they are nearly full, and no event is lost or duplicated meanwhile; if they must not grow,
# lost events are counted for each CPU.
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
