#!/bin/bash
# SPDX-License-Identifier: MIT
# LTTng's kernel tracer in a virtual machine: one program is recorded by it, by BPF programs and by perf at
# the same time; all agree on its threads, and `report` gives the same outside the machine as inside.
. "$GM_TOP/tests/lib.sh"
fail_shows out/stdout out/stderr out/log
vm=$GM_TOP/tests/vm

need qemu-system-x86_64 babeltrace2 jq python3
"$vm/prepare" >image || skip "no virtual machine: see above"

"$vm/boot" "$vm/lttng_kernel.guest" out "$GM_BUILD"/{gprof-mt,libgmon_mt.so,libsync_trace.so} \
	"$GM_BUILD"/{libsync_trace_ust.so,examples/philosophers,examples/plain/philosophers} \
	"$GM_TOP"/configs/{full-sched,full}-kernel.lttng || fail "the machine: exit status $?"

# The program ran as ever.  The session daemon that the first recording has started runs on, without a session.
for size in 10 "3 20"; do
	# shellcheck disable=SC2086 # split into two arguments
	"$GM_BUILD/examples/plain/philosophers" $size
	echo "exit status 0"
done >plain
diff plain out/stdout || fail "the program's own output differs"
grep -q lttng-sessiond out/after || fail "no session daemon runs: $(cat out/after)"
grep -q 'session daemon was started' out/first.err && ! grep 'session daemon was started' out/stderr ||
	fail "starts of a daemon: $(cat out/first.err)"
[ "$(grep -ci 'no available' out/sessions)" = 2 ] || fail "sessions stay: $(cat out/sessions)"

# The events and the missing ones are reported; no event is lost.
for source in bpf perf full; do
	# The program of the inner recording is not that of the outer ones, which report it.
	[ "$(jq -r '.kernel.source, ([.losses[] | select(.what | startswith("program not recorded") | not)] | length)' \
		out/$source/info.json | paste -sd ' ')" = "${source/full/bpf} 0" ] ||
		fail "$source: $(jq -c '.kernel, .losses' out/$source/info.json)"
done
[ "$(jq -r .kernel.source out/lttng/info.json)" = lttng ] ||
	fail "the source: $(jq -c .kernel out/lttng/info.json)"
[ "$(jq -r '.losses | length' out/lttng/info.json)" = 0 ] || fail "losses: $(jq -c .losses out/lttng/info.json)"
jq -r .kernel.why out/lttng/info.json | grep -q timer_hrtimer || fail "the missing events are not reported"
grep -q 'tracer_name = "lttng-modules"' <(tr -d '\0' <out/lttng/kernel/metadata) || fail "expected a trace of lttng-modules"

# The events of the level, as babeltrace2 reads them.
babeltrace2 out/lttng/kernel >text || fail "babeltrace2 cannot read kernel/"
for event in sched_switch sched_waking sched_process_fork sched_process_exit syscall_entry_futex \
	x86_exceptions_page_fault_user signal_; do
	grep -q " $event" text || fail "no $event"
done

# BPF programs record the same events.
babeltrace2 out/full/kernel >text || fail "babeltrace2 cannot read full/kernel"
for event in syscall_entry_futex syscall_exit_futex x86_exceptions_page_fault_user sched_switch; do
	grep -q " $event: " text || fail "full by BPF programs: no $event"
done

# The same report outside as inside, and only of the program's threads.
"$GM_BUILD/gprof-mt" report -i out/lttng threads >report || fail "report: exit status $?"
diff out/report report || fail "the report outside differs"
for source in lttng bpf perf; do
	"$GM_BUILD/gprof-mt" report -i out/$source --format json threads >$source.json || fail "report of $source's"
done

# Each thread except the first: the outer recordings also saw it wait for the exec.
python3 - <<-'END' || fail "the three sources differ"
	import json, sys

	def threads(source):
	    rows = json.load(open(source + ".json"))["threads"]
	    return {t["tid"]: t for t in rows}

	lttng, perf = threads("lttng"), threads("perf")
	bad = 0
	names = sorted(t["name"] for t in lttng.values())
	if names != sorted(["philosophers"] + [f"phil-{i}" for i in range(10)]):
	    print("threads:", names)
	    bad += 1
	for source, tid in ((s, t) for s in ("lttng", "bpf") for t in lttng):
	    ours, other = threads(source)[tid], perf[tid]
	    if ours["name"] == "philosophers":
	        continue
	    life = ours["end_ns"] - ours["start_ns"]
	    for what in ("running", "runnable", "blocked"):
	        a, b = (sum(t.get(f"{k}_ns") or 0 for k in (
	            ["blocked_sync", "blocked_io", "blocked_other"] if what == "blocked" else [what]))
	            for t in (ours, other))
	        if abs(a - b) > 0.02 * life:
	            print(f"{ours['name']}: {what} {a} ns by {source}, {b} ns by perf, of {life} ns")
	            bad += 1
	sys.exit(bad > 0)
END

# Without the kernel tracer in the daemon, record uses the next source and prints a line that says so.
for source in lttng auto; do
	[ "$(jq -r .kernel.source out/without-$source/info.json)" = bpf ] &&
		grep -q "kernel events: LTTng's kernel tracer: .*--no-kernel" out/without-$source.err &&
		grep -qx 'exit status 0' out/without-$source.err ||
		fail "$source, without the kernel tracer: $(cat out/without-$source.err)"
done

# Sessions made by hand: each session file records the events of its level, and the report shows them.
[ "$(cat out/loaded)" = "$(printf '%s: 0\n' full-sched-kernel full-kernel)" ] || fail "load: $(cat out/load)"
for session in full-sched-kernel full-kernel; do
	babeltrace2 out/$session >text || fail "babeltrace2 cannot read $session"
	for event in sched_switch sched_waking sched_process_exit gmon_mt_sync:sem_wait; do
		grep -q " $event: " text || fail "$session: no $event"
	done
	"$GM_BUILD/gprof-mt" report -i out/$session --format json threads sync >report.json || fail "report of $session"
	jq -e '[.threads[] | select(.running_ns > 0)] | length >= 4' report.json >/dev/null ||
		fail "$session: $(jq -c .threads report.json)"
done
for event in x86_exceptions_page_fault_user syscall_entry_futex; do
	grep -q " $event: " text || fail "full-kernel: no $event"
done
