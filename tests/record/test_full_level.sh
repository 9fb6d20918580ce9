#!/bin/bash
# SPDX-License-Identifier: MIT
# Level full: the program's system calls, page faults, timers and signals are recorded, all of them and only
# its own, with LTTng's names; if permissions are missing, record reports what is not recorded.
. "$GM_TOP/tests/record/common.sh"
build known_syscalls -O2

# The permission for context switches alone allows none of these events: reported once, and in info.json.
"$gprof_mt" record -o less --profile full --set kernel.source=switches ./known_syscalls >out 2>err ||
	fail "exit status: $(cat err)"
[ "$(grep -c 'not recorded here: system calls, page faults, timers, signals, block I/O' err)" = 1 ] ||
	fail "no message: $(cat err)"
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
	"$gprof_mt" record --profile full --set kernel.source=$1 ./known_syscalls >out 2>err ||
		fail "exit status: $(cat err)"
	! grep -q lost err || fail "$(cat err)"
	[ "$(info not_collected)" = "[]" ] || fail "not collected: $(info not_collected); $(cat err)"
	kernel_events gprof-mt.data >events
	python3 "$GM_TOP/tests/record/programs/check_full_level.py" out events "$(info 'kernel filled_switches')" || fail "see above"
	[ "$(info 'kernel events')" = "$(wc -l <events)" ] || fail "expected $(wc -l <events) events in info.json"
	bytes=$(cat gprof-mt.data/kernel/channel* | wc -c)
	[ "$bytes" -le $((32 * $(wc -l <events))) ] || fail "$bytes bytes for $(wc -l <events) events"
}
keep_busy
retry full perf
if has_bpf; then
	retry full bpf
fi

# The reports accept such a capture like one with only scheduling events.
"$gprof_mt" report threads sync quality >report 2>&1 || fail "report: $(cat report)"

# A second witness counts the same system calls, without a library in the program.
if command -v strace >/dev/null && strace -f -o counts -c ./known_syscalls >/dev/null 2>&1; then
	for call in clock_nanosleep tgkill; do
		theirs=$(awk -v call=$call '$NF == call { print $4 }' counts)
		# Signal 0 asks whether a thread is still there: the libraries' own question.
		ours=$(grep " syscall_entry_$call: " events | grep -vc ', sig = 0 }')
		[ "$theirs" = "$ours" ] || fail "$call: expected $theirs as strace counts, got $ours"
	done
fi
