#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that allocate, resize, pass on and free blocks at once get the memory that they get without the library,
# whatever is recorded. In the trace, blocks do not overlap, and no section accesses a block that was freed.
. "$GM_TOP/tests/access/common.sh"

bare churn gcc
instrumented churn gcc
gcc -o archive churn.o -L"$GM_BUILD" -l:libaccess_trace.a -lsync_trace "-Wl,-rpath,$GM_BUILD" -pthread ||
	fail "cannot link the archive"
./churn.bare 500 >expected || fail "bare: $(cat expected)"
for program in churn archive; do
	for settings in sync.mode=all sync.mode=contended sync.mode=off 'sync.mode=all --set output.max=1M'; do
		rm -rf d
		# shellcheck disable=SC2086 # several options
		"$gprof_mt" record -q -o d --set kernel.source=none --set $settings "./$program" 500 >got 2>err ||
			fail "$program, $settings: $? $(cat got err)"
		same "$program, $settings" "$(cat expected)" "$(cat got)"
		[ "$settings" != sync.mode=all ] || [ ! -s err ] || fail "$program, $settings: $(cat err)"
	done
	record_all d "./$program" 500 >got || fail "$program: $(cat got)"
	PYTHONPATH=$GM_TOP/tests/access python3 "$GM_TOP/tests/access/lives.py" d/[0-9]*/accesses || fail "$program: see above"
done
for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
	LD_PRELOAD=$allocator true 2>err && [ ! -s err ] || continue
	record_all d env LD_PRELOAD="$GM_BUILD/libaccess_trace.so:$allocator" ./churn 500 >got || fail "$allocator: $(cat got)"
	same "$allocator" "$(cat expected)" "$(cat got)"
	record_all d env LD_PRELOAD="$allocator" ./churn 500 >got || fail "$allocator first: $(cat got)"
	same "$allocator first" "$(cat expected)" "$(cat got)"
done
