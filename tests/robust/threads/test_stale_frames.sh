#!/bin/bash
# SPDX-License-Identifier: MIT
# One thread calls dlclose() while another records call paths over stale return addresses: memory that is
# being unloaded is never read.
. "$GM_TOP/tests/lib.sh"

build stale_frames
# A fixed address, at which nothing else is mapped in between.
"$CC" -shared -fPIC -Wl,-Ttext-segment=0x600000000000 -o plugin.so "$programs/stale_plugin.c" || fail "cannot compile stale_plugin.c"
printf '[sync]\npaths = 1us\n' >gprof-mt.conf
timeout 60 ./stale_frames 50 ./plugin.so >/dev/null 2>&1 || fail "the program itself fails"
for run in {1..8}; do
	fresh env LD_PRELOAD="$libsync" timeout 60 ./stale_frames 900 ./plugin.so >out 2>err ||
		fail "run $run: status $? under libsync-trace after $(cat err)"
	[ "$(cat out)" = "done" ] || fail "run $run: expected 'done', found '$(cat out)'"
	loads=$((${loads:-0} + $(sed -n 's/ loads//p' err)))
done
paths=$("$gprof_mt" report --format csv paths 2>/dev/null | wc -l)
echo "8 runs, $loads loads, $paths lines of paths"
[ "$loads" -gt 50 ] || fail "expected more than 50 loads, found $loads"
