#!/bin/bash
# SPDX-License-Identifier: MIT
# All processes that the program starts are recorded and no others; a process that is still running is
# counted.
. "$GM_TOP/tests/lib.sh"
can_trace || skip "perf tracepoints are not permitted here"

# Noise: another program is busy all the time.
(while :; do /bin/true; done) &
noise=$!
trap 'kill $noise $(cat daemon 2>/dev/null) 2>/dev/null' EXIT

cat >tree.sh <<'END'
echo "self $$"
sh -c 'echo "child $$"; exec sleep 0.01'
(exec /bin/echo "exec $(sh -c 'echo $PPID')") | cat
sleep 1000 >/dev/null &
echo $! >daemon
echo "daemon $!"
END
"$gprof_mt" record -q sh tree.sh >out || fail "exit status"
cat out
kernel_events gprof-mt.data >events
self=$(awk '$1 == "self" { print $2 }' out)
child=$(awk '$1 == "child" { print $2 }' out)
daemon=$(awk '$1 == "daemon" { print $2 }' out)

grep -q "sched_process_fork: .* parent_tid = $self, .* child_tid = $child, child_pid = $child " events ||
	fail "no fork of the child: $(grep fork events)"
[ "$(grep -c "sched_process_exec: .* tid = $child, " events)" = 2 ] || fail "execs of the child"
grep -q "sched_process_exec: .* filename = \".*sleep\", tid = $child, " events || fail "exec sleep"
grep -q "sched_process_exit: .* comm = \"sleep\", tid = $child, " events || fail "no exit of the child"
grep -q "sched_process_exit: .* tid = $self, " events || fail "no exit of the program"
! grep -q "sched_process_exit: .* tid = $daemon, " events || fail "unexpected exit of the daemon"

# Every event belongs to a task of the tree, which the awk program derives from the forks alone.
awk -v root=$self '
	function field(name,   at) {
		at = index($0, " " name " = ")
		return at ? substr($0, at + length(name) + 4) + 0 : -1
	}
	BEGIN { ours[root] = 1 }
	/sched_process_fork:/ && field("parent_tid") in ours { ours[field("child_tid")] = 1; n++; next }
	/sched_switch:/ && (field("prev_tid") in ours || field("next_tid") in ours) { next }
	/sched_waking:/ { sub(/.*irq = [0-9]* }/, " "); if (field("tid") in ours) next }
	/sched_process_e/ && field("tid") in ours { next }
	{ print "not an event of the program: " $0; bad = 1 }
	END { exit bad || n < 4 }' events || fail "see above"

[ "$(info 'kernel still_running')" = 1 ] || fail "still running: $(info kernel)"
[ "$(info 'kernel processes')" = $((1 + $(grep -c sched_process_fork: events))) ] ||
	fail "processes: $(info kernel)"
