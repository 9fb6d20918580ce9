#!/bin/bash
# SPDX-License-Identifier: MIT
# If tracefs is not mounted, as in a new chroot, root can still use tracepoints, and nothing remains mounted.
. "$GM_TOP/tests/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root, to unmount tracefs in a mount namespace of its own"
can_trace || skip "perf tracepoints are not permitted here"
unshare -m true 2>/dev/null || skip "no private mounts"

cat >bare.sh <<'END'
for dir in /sys/kernel/tracing /sys/kernel/debug; do
	while grep -q " $dir " /proc/self/mounts; do
		umount -l $dir || exit 77
	done
done
"$@" || exit
! grep -q tracefs /proc/self/mounts || exit 99
END
unshare -m sh bare.sh "$gprof_mt" record --set kernel.source=perf true 2>err
status=$?
[ $status != 77 ] || skip "tracefs cannot be unmounted"
[ $status != 99 ] || fail "tracefs remains mounted"
[ $status = 0 ] || fail "status $status: $(cat err)"
[ "$(info 'kernel source')" = perf ] || fail "$(cat err; info kernel)"
kernel_events gprof-mt.data | grep -q 'sched_process_exec: .*true' || fail "no events"
