#!/bin/bash
# SPDX-License-Identifier: MIT
# Every thread of the program is recorded, however and how often threads are created, by perf tracepoints and
# by BPF programs; the kernel's count of their switches is the witness.
. "$GM_TOP/tests/lib.sh"
can_trace || skip "perf tracepoints are not permitted here"
build thread_creation -O2

recorded()
{
	local source=$1
	rm -rf data data.old
	"$gprof_mt" record -q -o data --set kernel.source=$source --set sync.mode=off --set calls.mode=off -- \
		./thread_creation "${@:2}" >out 2>err || fail "exit status: $(cat err)"
	[ "$(info 'kernel source' data)" = $source ] || fail "source: $(info kernel data)"
	kernel_events data >events
	python3 "$GM_TOP/tests/record/programs/check_thread_creation.py" out events data/info.json || fail "$source: see above; $(cat out)"
}
for source in perf bpf; do
	[ $source = perf ] || has_bpf || continue
	retry recorded $source
	[ "$(grep -c ^task out)" -ge 5 ] || fail "expected at least 5 kinds of threads: $(cat out)"
	retry recorded $source storm 2000 200
done
