#!/bin/bash
# SPDX-License-Identifier: MIT
# The states of threads that ran before the recording, with each source of kernel events: names, CPU time and switches
# agree with the kernel's own account of each thread, and the process does not change.
. "$GM_TOP/tests/attach/common.sh"
need python3
start_known
state_of "$known" >state.before

# compare SOURCE: three witnesses, one before the recording, two during it, and one after it.
compare()
{
	witness outer.begin
	attach --set kernel.source="$1"
	witness inner.begin
	until_true 60 has_worked inner.begin || fail "known does not work"
	witness inner.end
	end_attach
	witness outer.end
	[ "$(info 'kernel source')" = "$1" ] || fail "source: $(info kernel)"
	[ "$(info 'attached end')" = signal ] || fail "$(info attached)"
	! grep -q lost: err || { cat err; return 1; }
	"$gprof_mt" report --format json threads quality >report.json || fail report
	python3 "$programs/compare.py" "$known" "$1"
}

sources=()
if has_bpf; then sources+=(bpf); fi
if can_trace; then sources+=(perf); fi
if ! "$gprof_mt" doctor | grep -q '^no *context-switch records'; then sources+=(switches); fi
[ ${#sources[@]} -gt 0 ] || skip "no source of kernel events is permitted"
for source in "${sources[@]}"; do
	retry compare "$source"
done
state_of "$known" >state.after
same "the state of the process" "$(cat state.before)" "$(cat state.after)"

# The report says what it does not know.
"$gprof_mt" report summary threads sync locks >report 2>&1 || fail "$(cat report)"
for text in 'attached *recorded from .* after its start on, until a signal ended the recording; it ran on' \
	'calls *not counted: gprof-mt attached' 'sync *no synchronization calls recorded: gprof-mt attached' \
	'note: [0-9]* of the threads ran before the recording'; do
	grep -q "$text" report || fail "no line '$text' in $(cat report)"
done
