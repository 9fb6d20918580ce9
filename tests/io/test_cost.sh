#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of a short blocking call beyond the bare one, in instructions counted by callgrind: the difference between a
# long and a short run.
. "$GM_TOP/tests/lib.sh"
need valgrind
build short -O2
unset GPROF_MT_CONFIG LD_PRELOAD

# instructions N [VARIABLE=VALUE...]: the instructions of a run with N calls
instructions()
{
	local n=$1
	shift
	rm -rf gprof-mt.data gprof-mt.data.old
	env "$@" valgrind --tool=callgrind --callgrind-out-file=/dev/null ./short "$n" 2>&1 | sed -n 's/.*Collected : //p'
}

# call [VARIABLE=VALUE...]: ten times the instructions of a call
call()
{
	local few many
	few=$(instructions 10000 "$@")
	many=$(instructions 60000 "$@")
	[ -n "$few" ] || fail "valgrind printed no count of instructions"
	echo $(((many - few) / 5000))
}

bare=$(call GPROF_MT=)
# check MOST THRESHOLD
check()
{
	local added
	printf '[io]\nthreshold = %s\n' "$2" >"$2.conf"
	added=$(($(call LD_PRELOAD="$libsync" GPROF_MT_CONFIG="$PWD/$2.conf") - bare))
	echo "threshold $2: $((added / 10)).$((added % 10)) instructions beyond the bare $((bare / 10))"
	[ "$added" -le $((10 * $1)) ] ||
		fail "threshold $2: expected at most $1 instructions more than bare, found $((added / 10)).$((added % 10))"
}

# Where the kernel does not trust the TSC, its own clock is read, here by system calls (Valgrind hides the vDSO).
most=70
! with_sanitizers || most=90
[ "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" = tsc ] || most=240
check $most 1s
check 3 off
