#!/bin/bash
# SPDX-License-Identifier: MIT
# Scheduling events by perf tracepoints and by BPF programs: all switches of the program and no others,
# checked against the kernel's counters; also the woken thread and its waker.
. "$GM_TOP/tests/record/common.sh"
can_trace || skip "perf tracepoints are not permitted here"
build pingpong -O2
rounds=3000

switches()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	"$gprof_mt" record --set kernel.source=$1 ./pingpong $rounds >out 2>err
	[ $? = 3 ] || fail "exit status; $(cat err)"
	[ "$(info 'kernel source')" = $1 ] || fail "source: $(info kernel)"
	[ "$(info 'kernel lost_events')" = "$(info 'kernel lost_events' | tr -c '[], \n' 0)" ] ||
		fail "lost: $(info kernel)"
	kernel_events gprof-mt.data >events
	cat out
	helpers gprof-mt.data >>out
	awk -v rounds=$rounds -v pairs=1 -f "$GM_TOP/tests/record/programs/switches.awk" out events ||
		fail "see above"

	# Each time a thread had blocked, the other thread woke it, in its own context.
	read -r first second < <(awk '$1 == "thread" { print $2 }' out | xargs)
	for pair in "$first $second" "$second $first"; do
		set -- $pair
		n=$(grep 'sched_waking:' events | grep -c "{ tid = $1, irq = 0 }.* tid = $2,")
		blocked=$(awk -v tid=$2 '$2 == tid { print $4 }' out)
		[ "$n" -ge $((blocked - 10)) ] && [ "$n" -le $((blocked + 10)) ] ||
			fail "expected $blocked wakings of $2 by $1, got $n"
	done

	# The events have LTTng's names, are in time order, and include the program's start and end.
	for event in sched_process_exec sched_process_fork sched_process_exit; do
		grep -q " $event: " events || fail "no $event"
	done
	grep -q "sched_process_fork: .* child_tid = $first, child_pid = $second " events ||
		fail "the thread's fork: $(grep fork events)"
	grep -q "sched_process_exec: .* filename = \"./pingpong\", tid = $second" events ||
		fail "exec: $(grep exec events)"
	awk '{ t = substr($1, 2) + 0; if (t < last) exit 1; last = t }' events || fail "out of order"
	[ "$(info 'kernel events')" = "$(wc -l <events)" ] || fail "expected $(wc -l <events) events in info.json"
}
retry switches perf
if has_bpf; then
	retry switches bpf
fi

# babeltrace2 reads the whole directory as one trace.
babeltrace2 gprof-mt.data >all 2>bt.err || fail "babeltrace2: $(cat bt.err)"
[ ! -s bt.err ] || fail "babeltrace2 warns: $(cat bt.err)"
