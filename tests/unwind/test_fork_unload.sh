#!/bin/bash
# SPDX-License-Identifier: MIT
# A child of fork unloads a module before its first event: the module's unwind rules, which it has from its parent,
# are not applied to another one at the same address.
. "$GM_TOP/tests/sync/common.sh"

frame=$GM_TOP/tests/unwind/programs/frame.S
"$CC" -shared -DFRAME_BYTES=1032 -o small.so "$frame" && "$CC" -shared -DFRAME_BYTES=4104 -o large.so "$frame" ||
	fail "cannot compile the modules"
build unwind/fork_unload -fomit-frame-pointer -fno-optimize-sibling-calls -ldl
taken()
{
	fresh "$gprof_mt" record -q --set kernel.source=none --set sync.paths=0ns -- ./fork_unload
}
retry taken # another module may have come to the address
same "paths" "wait_in_vain < frame < use < child < main
wait_in_vain < frame < use < main" "$("$gprof_mt" report --format json paths |
	jq -r '.paths[] | select(.function == "sem_timedwait") | .path' | sed -E 's/ < (__libc_start|0x).*//' | sort)"
exit 0
