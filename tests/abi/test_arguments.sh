#!/bin/bash
# SPDX-License-Identifier: MIT
# What mcount and __fentry__ must leave alone, at every optimization level, in small stacks too.
. "$GM_TOP/tests/runtime/gmon/common.sh"
# shellcheck disable=SC2034 # for build()
programs=$GM_TOP/tests/abi

for flags in "-O0" "-O2" "-O3 -march=native" "-O2 -mfentry" "-O0 -mfentry" "-O2 -no-pie -fno-plt"; do
	# shellcheck disable=SC2086 # several flags
	build arguments -Wno-psabi -Wno-attributes $flags
	fresh ./arguments || fail "$flags: exit status $?"
	# shellcheck disable=SC2086 # several flags
	build small_stack $flags
	fresh ./small_stack >out || fail "$flags: small stack: $(cat out)"
done
link_with "$GM_BUILD/libgmon_mt.a" -static
build arguments -Wno-psabi
fresh ./arguments || fail "static: exit status $?"

exit 0
