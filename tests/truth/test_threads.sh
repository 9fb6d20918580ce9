#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads, calls and locks in the report agree with the threads' own measurements and the kernel's counts,
# with each permitted source of scheduling events.
. "$GM_TOP/tests/lib.sh"
"$CC" -O2 -g -o known "$GM_TOP/tests/truth/programs/known.c" -pthread || fail "cannot compile"

# CPU time of the hypervisor and of interrupts so far, on all CPUs.
stolen_ns()
{
	awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%.0f\n", ($7 + $8 + $9) / hz * 1e9 }' /proc/stat
}

# With other load on the machine records may be lost, which record reports; then the figures are incomplete.
record_all()
{
	for _ in 1 2 3 4 5; do
		before=$(stolen_ns)
		"$gprof_mt" record -o "$1" --set sync.mode=all "${@:2}" ./known >said 2>err ||
			fail "record: $(cat err)"
		after=$(stolen_ns)
		grep -q lost err || return 0
	done
	skip "this machine is too busy to record without losses: $(cat err)"
}

compare()
{
	local source=$1 before after
	record_all "$@"
	"$gprof_mt" report -i "$source" --format json threads sync quality >report.json || fail "report"
	"$gprof_mt" report -i "$source" --format json locks >locks.json || fail "report locks"
	# /proc/stat has a resolution of 0.01 s.
	python3 "$GM_TOP/tests/truth/programs/compare.py" said report.json locks.json "$source" \
		$((after - before + 10000000)) || fail "with $source; $(cat said)"
}

sources=0
for source in bpf perf switches; do
	[ $source = bpf ] && ! has_bpf && continue
	[ $source = perf ] && ! can_trace && continue
	"$gprof_mt" doctor | grep -q "^ok *\(perf tracepoints\|.*context switch\)" || continue
	retry compare $source --set kernel.source=$source
	sources=$((sources + 1))
	[ $source = switches ] || retry compare full --profile full --set kernel.source=$source
done
[ $sources -gt 0 ] || skip "no scheduling events are permitted here"
