#!/bin/bash
# SPDX-License-Identifier: MIT
# BPF programs report the same as perf's tracepoints for the same run, and are removed after it.
. "$GM_TOP/tests/lib.sh"
can_trace || skip "perf tracepoints are not permitted here"
has_bpf || skip "$("$gprof_mt" doctor | grep -A 1 'BPF programs' | tr -s ' \n' ' ')"
"$CC" -O2 -g -o known "$GM_TOP/tests/truth/programs/known.c" -pthread || fail "cannot compile"
build known_syscalls -O2

# both THREADS LEVEL COMMAND
both()
{
	rm -rf perf bpf
	"$gprof_mt" record -q -o perf --profile $2 --set kernel.source=perf --set sync.mode=off -- \
		env -u GPROF_MT_CONFIG -u LD_PRELOAD "$gprof_mt" record -q -o bpf --profile $2 --set kernel.source=bpf $3 \
		>out 2>err || fail "exit status: $(cat err)"
	! grep -q lost err || fail "$(cat err)"
	for source in perf bpf; do
		"$gprof_mt" report -i $source --format json threads >$source.json || fail "report of $source"
		kernel_events $source >$source.events
	done
	python3 "$GM_TOP/tests/record/programs/compare_sources.py" $1 $2 || fail "see above; $(info kernel bpf)"
}
retry both 4 full-sched ./known
retry both 2 full ./known_syscalls

# No program, link or map outlives the collector.
[ "$(id -u)" = 0 ] || exit 0
python3 "$GM_TOP/tests/record/programs/bpf_ends.py" "$gprof_mt" || fail "see above"
