#!/bin/bash
# SPDX-License-Identifier: MIT
# In code without unwind tables %rbp may point anywhere: what it leads to is not taken for the thread's stack.
. "$GM_TOP/tests/sync/common.sh"
need jq

build unwind/stale_rbp -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
[ "$(./stale_rbp)" = "done" ] || fail "bare"
for mode in all contended; do
	fresh "$gprof_mt" record -q --set kernel.source=none --set sync.mode=$mode --set sync.paths=0ns -- ./stale_rbp >out ||
		fail "$mode: exit status $?"
	same "$mode" "done" "$(cat out)"
	same "$mode: paths" "1 wait_in_vain < thread
1 wait_in_vain < wait_deeply
3 wait_in_vain < call_with_rbp" "$("$gprof_mt" report --format json paths |
		jq -r '.paths[] | select(.function == "sem_timedwait") | "\(.calls) \(.path)"' |
		sed -E 's/ < (start_thread|libc\.so|__start_context|0x).*//' | sort)"
done
exit 0
