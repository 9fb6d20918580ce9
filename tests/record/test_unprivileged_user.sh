#!/bin/bash
# SPDX-License-Identifier: MIT
# An unprivileged user gets the switches of the own program, and fields that need more privileges stay
# unknown. For the same run, the user's and root's records agree on each thread.
. "$GM_TOP/tests/record/common.sh"
build pingpong -O2
"$CC" -O2 -g -o known "$GM_TOP/tests/truth/programs/known.c" -pthread || fail "cannot compile"
rounds=3000
user=()
if [ "$(id -u)" = 0 ]; then
	need setpriv
	can_be_other || skip "this root may not become another user"
	user=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all)
	# A directory of the test's own: the user may not access the build tree.
	here=$(mktemp -d /tmp/gprof-mt-test.XXXXXX) || fail mktemp
	trap 'rm -rf "$here"' EXIT
	cp pingpong known "$gprof_mt" "$here"/
	cp "${GPROF_MT_LIBDIR:-$GM_BUILD}"/lib{gmon_mt,sync_trace}.so "$here"/
	unset GPROF_MT_LIBDIR
	chmod -R go+rX "$here"
	mkdir "$here/home" && chown 65534:65534 "$here/home"
	gprof_mt=$here/gprof-mt
	cd "$here/home" || fail cd
else
	mkdir home && cd home || fail cd
fi
# A directory that cannot be read may be a capture: the message does not claim that it is none.
mkdir closed && chmod 0 closed
"${user[@]}" "$gprof_mt" report -i closed >out 2>err
[ $? = 1 ] && [ "$(cat out err)" = 'gprof-mt: closed/session: Permission denied' ] || fail "$(cat out err)"

# With little locked memory, as in a login, the rings are smaller, and nothing else changes.
ulimit -l 64
"${user[@]}" "$gprof_mt" doctor >doctor 2>&1
grep -q '^no *context-switch records' doctor && skip "$(grep context-switch doctor)"

switches()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	"${user[@]}" "$gprof_mt" record --set kernel.source=switches ../pingpong $rounds >out 2>err
	[ $? = 3 ] || fail "exit status; $(cat err)"
	[ "$(info 'kernel source')" = switches ] || fail "source: $(info kernel)"
	for member in pairs wakings io; do
		[ "$(info "kernel $member")" = false ] || fail "info.json states $member as known"
	done
	kernel_events gprof-mt.data >events
	cat out
	helpers gprof-mt.data >>out
	awk -v rounds=$rounds -v pairs=0 -f "$GM_TOP/tests/record/programs/switches.awk" out events ||
		fail "see above"
	[ "$(stat -c %a gprof-mt.data gprof-mt.data/info.json gprof-mt.data/kernel/metadata | xargs)" = \
		"700 600 600" ] || fail "expected private files: $(ls -lR gprof-mt.data)"
}
retry switches

# Without permission for tracepoints, `auto` reports once what is missing, and continues.
if grep -q '^poor *perf tracepoints' doctor; then
	for level in full-sched full; do
		"${user[@]}" "$gprof_mt" record --profile $level -o $level ../pingpong 10 >out 2>err
		[ $? = 3 ] || fail "exit status; $(cat err)"
		[ "$(info 'kernel source' $level)" = switches ] || fail "source: $(info kernel $level)"
		[[ "$(info 'kernel why' $level)" == *tracepoints:* ]] || fail "why: $(info 'kernel why' $level)"
		lacks='wakers, next threads'
		[ $level != full ] || lacks+=', system calls, page faults, timers, signals, block I/O'
		[ "$(grep -v ': finding: ' err | grep -E 'doctor|not recorded here|scheduling: ')" = \
			"gprof-mt: not recorded here: $lacks; see gprof-mt doctor" ] || fail "expected one line: $(cat err)"
	done
fi

# Root records the user's record.
both()
{
	rm -rf gprof-mt.data gprof-mt.data.old ../root
	"$gprof_mt" record -q -o ../root --set kernel.source=perf --set sync.mode=off -- \
		env -u GPROF_MT_CONFIG -u LD_PRELOAD "${user[@]}" "$gprof_mt" record -q --set kernel.source=switches ../known >out 2>err ||
		fail "exit status: $(cat err)"
	! grep -q lost err || fail "$(cat err)"
	"$gprof_mt" report -i ../root --format json threads >../root.json || fail "report of root's"
	"$gprof_mt" report --format json threads >user.json || fail "report"
	python3 - <<-'END' || fail "see above"
		import json, sys
		root, user = ({t["tid"]: t for t in json.load(open(f))["threads"]} for f in ("../root.json", "user.json"))
		bad = len(user) < 5
		for tid, ours in user.items():
		    theirs, life = root[tid], ours["end_ns"] - ours["start_ns"]
		    # root also has the first thread's time before the exec
		    if ours["pid"] == tid:
		        continue
		    off = [sum(t[k] or 0 for k in t if k.startswith(("blocked_", "runnable_")) and k.endswith("_ns"))
		           for t in (ours, theirs)]
		    # recording a switch twice takes time that the user's run counts on one side of it, and
		    # root's on the other
		    near = 0.02 * life + 2000 * (ours["switches_voluntary"] + ours["switches_involuntary"])
		    for what, a, b in (("running", ours["running_ns"], theirs["running_ns"]), ("not running", *off)):
		        if abs(a - b) > near:
		            print(f"thread {tid}: {what} {a} ns of {life}, root has {b}")
		            bad = True
		sys.exit(bad)
	END
}
if [ "$(id -u)" = 0 ] && can_trace; then
	retry both
fi
