#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads with little stack. On the least one, the handlers of two signals run at once: no overflow that the program
# does not have without us. Each round has other instants of the signals.
. "$GM_TOP/tests/lib.sh"

ROUNDS=8 THREADS=2000

build least_stacks -o least_stacks_bare
./least_stacks_bare $THREADS >bare || skip "two handlers do not fit on the least stack here, bare"
build_pg least_stacks
# The frame of a sample's handler is a third one.
printf '[sample]\nhz = 0\n' >unsampled.conf
for round in $(seq $ROUNDS); do
	GPROF_MT_CONFIG=$PWD/unsampled.conf fresh env LD_PRELOAD="$libsync" ./least_stacks $THREADS >out 2>err ||
		fail "round $round: status $? under both libraries: $(cat err)"
	cmp bare out || fail "round $round: expected $(cat bare) threads, found $(cat out)"
done
echo "$ROUNDS rounds, $THREADS threads each"

# A stack that is too small for the slow path: the program handles the overflow. No signal stays blocked by us; where
# the depth varies, one jump may leave them so until the thread's next slow path.
build_pg overflows -O1
GPROF_MT_CONFIG=$PWD/unsampled.conf fresh ./overflows >out 2>err || fail "overflows: status $?: $(cat err)"
cat out
grep -qE '^[1-9][0-9]* jumps, [0-2] with blocked signals, 0 signals blocked at the end$' out || fail "overflows: $(cat out)"
