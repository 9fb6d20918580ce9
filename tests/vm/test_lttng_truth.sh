#!/bin/bash
# SPDX-License-Identifier: MIT
# Compares the report from LTTng's kernel events with the threads' own measurements, as truth/test_threads
# does for the other sources, in a virtual machine.
. "$GM_TOP/tests/lib.sh"
vm=$GM_TOP/tests/vm truth=$GM_TOP/tests/truth/programs

need qemu-system-x86_64 jq python3
"$vm/prepare" >image || skip "no virtual machine: see above"
"$vm/boot" "$vm/lttng_truth.guest" out "$GM_BUILD"/{gprof-mt,libgmon_mt.so,libsync_trace.so} \
	"$GM_BUILD"/{libsync_trace_ust.so,tests/vm/known} || { echo "FAIL: the machine: $?"; exit 1; }

# The machine is emulated: sometimes a thread waits for its CPU in addition.
compare()
{
	[ "$(jq -r '.kernel.source, (.losses | length)' "$1/capture/info.json" | paste -sd ' ')" = "lttng 0" ] ||
		{ jq -c . "$1/capture/info.json"; return 1; }
	"$GM_BUILD/gprof-mt" report -i "$1/capture" --format json threads sync quality >report.json &&
		"$GM_BUILD/gprof-mt" report -i "$1/capture" --format json locks >locks.json &&
		python3 "$truth/compare.py" "$1/said" report.json locks.json lttng \
			$(($(cat "$1/stolen") + 10000000))
}

for run in 1 2 3 4 5; do
	compare out/$run && exit 0
	cat out/$run/{said,err}
done
cat out/log
echo "FAIL: no run of five agrees"
exit 1
