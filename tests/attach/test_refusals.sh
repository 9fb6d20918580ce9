#!/bin/bash
# SPDX-License-Identifier: MIT
# Processes that cannot be recorded, and options that contradict each other: one line with the reason, and no capture.
. "$GM_TOP/tests/attach/common.sh"
start_known

# refused STATUS TEXT ARG...
refused()
{
	local status=$1 text=$2
	shift 2
	"$gprof_mt" record -o refused "$@" >out 2>err
	same "exit status of record $*" "$status" $?
	[ "$(wc -l <err)" = 1 ] && [ ! -s out ] || fail "expected one line for $*: $(cat out err)"
	grep -qE -- "$text" err || fail "expected '$text' for $*: $(cat err)"
	[ ! -e refused ] || fail "record $* leaves a capture"
}

true &
ended=$!
wait $ended
refused 1 "^gprof-mt: there is no process $ended$" --pid $ended
self="exec \"$gprof_mt\" record -o refused --pid \$\$"
bash -c "$self" >out 2>err
same "exit status for itself" 1 $?
grep -q 'is this gprof-mt itself$' err || fail "itself: $(cat err)"
if [ -e /proc/2/status ] && grep -q '^Name:.kthreadd$' /proc/2/status; then
	refused 1 'process 2 is a thread of the kernel$' --pid 2
fi
thread=$(find "/proc/$known/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -vx "$known" | head -n 1)
refused 1 "^gprof-mt: $thread is a thread of process $known: use --pid $known$" --pid "$thread"

# A zombie has ended.
need python3
python3 -c '
import os, signal
child = os.fork()
if not child:
    os._exit(0)
print(child, flush=True)
signal.pause()' >zombie.pid &
parent=$!
is_zombie()
{
	[ -s zombie.pid ] && grep -q '^State:.Z' "/proc/$(cat zombie.pid)/status"
}
until_true 60 is_zombie || fail "no zombie"
refused 1 "^gprof-mt: process $(cat zombie.pid) has ended$" --pid "$(cat zombie.pid)"
kill $parent

refused 2 "invalid --pid 'abc'" --pid abc
refused 2 "invalid --pid '0'" --pid 0
refused 2 "invalid --pid '-1'" --pid=-1
refused 2 "invalid --pid '99999999999'" --pid 99999999999
refused 2 "invalid --duration 'soon'" --pid "$known" --duration soon
refused 2 "invalid --duration '0s'" --pid "$known" --duration 0s
refused 2 '--duration needs --pid' --duration 1s true
refused 2 '--pid and a command exclude each other' --pid "$known" true
refused 2 '--pid excludes --backend lttng, --url and --accesses' --pid "$known" --backend lttng
refused 2 '--pid excludes --backend lttng, --url and --accesses' --pid "$known" --accesses sampled
refused 2 '--profile and --config exclude each other' --pid "$known" --profile full --config x
refused 2 'kernel events, which the profile' --pid "$known" --profile applic-only
refused 2 'kernel events, which the profile' --pid "$known" --set kernel.source=none

# Namespaces. The process itself tells its number here: of a new PID namespace, only its parent knows it.
for kind in mount pid; do
	unshare --fork --"$kind" true 2>/dev/null || continue
	rm -f inside
	unshare --fork --"$kind" sh -c 'echo; exec tail -f /dev/null' >inside &
	outer=$!
	until_true 60 test -s inside || fail "unshare --$kind"
	inner=$(cat "/proc/$outer/task/$outer/children")
	[ $kind = pid ] && name=PID || name=mount
	refused 1 "process ${inner% } is in another $name namespace" --pid "${inner% }"
	kill -KILL "${inner% }"
done

# Other users.
if [ "$(id -u)" = 0 ] && can_be_other; then
	need setpriv
	here=$(mktemp -d /tmp/gprof-mt-test.XXXXXX) || fail mktemp
	trap 'kill $known; rm -rf "$here"' EXIT
	cp "$gprof_mt" "$here" && chmod -R go+rX "$here"
	(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all "$here/gprof-mt" \
		record -o /tmp/refused.$$ --pid "$known") >out 2>err
	same "exit status for another user's process" 1 $?
	grep -qx "gprof-mt: process $known belongs to user 0; record it as that user, or as root" err ||
		fail "another user's process: $(cat err)"
	[ ! -e /tmp/refused.$$ ] || fail "a refused recording leaves a capture"
fi
kill -0 "$known" || fail "a refusal ended the process"
