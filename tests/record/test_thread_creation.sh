#!/bin/bash
# SPDX-License-Identifier: MIT
# Every thread of the program is recorded, however it came about and how many there are, by perf
# tracepoints and by BPF programs; the witness is the kernel's own count of their switches.
. "$GM_TOP/tests/lib.sh"
can_trace || skip "perf tracepoints are not permitted here"
build kin -O2

kin()
{
	local source=$1
	rm -rf data data.old
	"$gprof_mt" record -q -o data --set kernel.source=$source --set sync.mode=off --set calls.mode=off -- \
		./kin "${@:2}" >out 2>err || fail "exit status: $(cat err)"
	[ "$(info 'kernel source' data)" = $source ] || fail "source: $(info kernel data)"
	kernel_events data >events
	python3 "$GM_TOP/tests/record/programs/kin.py" out events data/info.json || fail "$source: see above; $(cat out)"
}
for source in perf bpf; do
	[ $source = perf ] || has_bpf || continue
	retry kin $source
	[ "$(grep -c ^task out)" -ge 5 ] || fail "not every way was tried: $(cat out)"
	retry kin $source storm 2000 200
done
