#!/bin/bash
# SPDX-License-Identifier: MIT
# Level full: system calls, page faults, timers and signals of the program, all of them and no
# other's, in LTTng's names; with fewer rights, what is missing is said.
. "$GM_TOP/tests/record/common.sh"
build does -O2

# By the right to context switches alone there is nothing of it, which is said once, and in info.json.
"$gprof_mt" record -o less --profile full --set kernel.source=switches ./does >out 2>err ||
	fail "exit status: $(cat err)"
[ "$(grep -c 'not recorded here: system calls, page faults, timers, signals, block I/O' err)" = 1 ] ||
	fail "not said: $(cat err)"
[ "$(info not_collected less)" = '["system calls", "page faults", "timers", "signals", "block I/O"]' ] ||
	fail "not_collected: $(info not_collected less)"

can_trace || skip "perf tracepoints are not permitted here"
for event in raw_syscalls/sys_enter exceptions/page_fault_user timer/hrtimer_start signal/signal_deliver; do
	[ ! -e /sys/kernel/tracing/events/sched ] || [ -e /sys/kernel/tracing/events/$event ] ||
		skip "this kernel has no $event"
done

full()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	"$gprof_mt" record --profile full --set kernel.source=$1 ./does >out 2>err ||
		fail "exit status: $(cat err)"
	! grep -q lost err || fail "$(cat err)"
	[ "$(info not_collected)" = "[]" ] || fail "not collected: $(info not_collected); $(cat err)"
	kernel_events gprof-mt.data >events
	python3 "$GM_TOP/tests/record/programs/full.py" out events "$(info 'kernel filled_switches')" || fail "see above"
	[ "$(info 'kernel events')" = "$(wc -l <events)" ] || fail "info.json counts otherwise"
	bytes=$(cat gprof-mt.data/kernel/channel* | wc -c)
	[ "$bytes" -le $((32 * $(wc -l <events))) ] || fail "$bytes bytes for $(wc -l <events) events"
}
keep_busy
retry full perf
if has_bpf; then
	retry full bpf
fi

# The reports take it as they take the scheduler's events alone.
"$gprof_mt" report threads sync quality >report 2>&1 || fail "report: $(cat report)"

# A second witness counts the same calls, with nothing of ours in the program.
if command -v strace >/dev/null && strace -f -o counts -c ./does >/dev/null 2>&1; then
	for call in clock_nanosleep tgkill; do
		theirs=$(awk -v call=$call '$NF == call { print $4 }' counts)
		# Signal 0 asks whether a thread is still there: the libraries' own question.
		ours=$(grep " syscall_entry_$call: " events | grep -vc ', sig = 0 }')
		[ "$theirs" = "$ours" ] || fail "$call: $ours, strace counts $theirs"
	done
fi
