#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor's advice to a user without privileges works: after its setcap, BPF programs and perf's tracepoints are
# permitted, and doctor asks for nothing else that they need. Root is not told to run as root.
. "$GM_TOP/tests/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root privileges, to become another user"
need setcap setpriv
has_bpf || skip "$("$gprof_mt" doctor | grep -A 1 'BPF programs' | xargs)"
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 0 ] || skip "perf_event_paranoid permits tracepoints to every user"

# advice CHECK: the line below that of the check, in "out"
advice()
{
	grep -A 1 -E "^(poor|no) +$1 " out | sed -n 's/^ *-> //p'
}

# The test's folder may be private.
home=$(mktemp -d) || fail "no temporary folder"
trap 'rm -rf "$home"' EXIT
chmod 755 "$home"
cp "$GM_BUILD"/{gprof-mt,libgmon_mt.so,libsync_trace.so} "$home" || fail "cannot copy the program"
export PATH=$home:$PATH
unset GPROF_MT_LIBDIR
as_user()
{
	(cd "$home" && setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all gprof-mt "$@")
}

as_user doctor >out 2>err || fail "exit status: $(cat out err)"
command=$(advice 'BPF programs' | sed -n 's/^run as root, or: sudo //p')
[[ $command = 'setcap cap_'* ]] || fail "no command for BPF: $(cat out)"
eval "$command" || skip "setcap: not possible on this file system"
setpriv --reuid=65534 --regid=65534 --clear-groups "$home/gprof-mt" --version >/dev/null ||
	fail "the program does not start after: $command"
as_user doctor >out 2>err || fail "exit status: $(cat out err)"
if ! grep -q '^ok *capabilities' out; then
	skip "capabilities of files have no effect on this file system"
fi
for check in 'BPF programs' 'perf tracepoints' perf_event_paranoid tracefs; do
	grep -qE "^ok +$check" out || fail "after '$command', $check: $(cat out)"
done

# Root without privileges, as in a container.
"$gprof_mt" doctor >out || fail "as root"
! grep 'run as root' out || fail "root: $(cat out)"
if setpriv --bounding-set=-bpf,-perfmon,-sys_admin true 2>/dev/null; then
	setpriv --bounding-set=-bpf,-perfmon,-sys_admin "$gprof_mt" doctor >out || fail "as root without privileges"
	! grep 'run as root' out | grep -v '^LTTng' || fail "root without privileges: $(cat out)"
	[ -n "$(advice 'BPF programs')" ] || fail "no advice on BPF: $(cat out)"
fi
exit 0
