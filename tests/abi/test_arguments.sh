#!/bin/bash
# SPDX-License-Identifier: MIT
# Registers and stack that mcount and the other entry points must preserve, at every optimization level, also
# with small stacks.
. "$GM_TOP/tests/gmon/common.sh"
# shellcheck disable=SC2034 # for build()
programs=$GM_TOP/tests/abi

# The frame of a sample's handler does not count for small stacks (sample/test_times has samples).
printf '[sample]\nhz = 1\n' >rare.conf

"$CC" -O1 -w -shared -fPIC -o clobber.so "$programs/clobber.c" || fail "cannot compile clobber.c"

for flags in "-O0" "-O2" "-O3 -march=native" "-O2 -mfentry" "-O0 -mfentry" "-O2 -no-pie -fno-plt" \
	"-O2 -mfentry -minstrument-return=call" "-O1 -finstrument-functions"; do
	# shellcheck disable=SC2086 # the flags are split on purpose
	build_pg arguments -Wno-psabi -Wno-attributes $flags
	fresh ./arguments || fail "$flags: exit status $?"
	LD_PRELOAD=$PWD/clobber.so fresh ./arguments || fail "$flags: with another libc: exit status $?"
	# Bound at load time: lazy binding needs more stack than is measured here.
	# shellcheck disable=SC2086 # the flags are split on purpose
	build_pg small_stack -Wl,-z,now $flags
	# A sample may still interrupt one run.
	GPROF_MT_CONFIG=$PWD/rare.conf fresh ./small_stack >out ||
		GPROF_MT_CONFIG=$PWD/rare.conf fresh ./small_stack >out || fail "$flags: small stack: $(cat out)"
done
shared=("${link[@]}")
link_with "$GM_BUILD/libgmon_mt.a" -static
build_pg arguments -Wno-psabi
fresh ./arguments || fail "static: exit status $?"

link_with "${shared[@]}"
build_pg by_hand
fresh ./by_hand || fail "by hand: exit status $?"
same "by hand: no function" 5000 "$(lost "$(folder)")"
same "by hand: functions" "leaf 2
main 1" "$(flat by_hand gmon.out)"
exit 0
