#!/bin/bash
# SPDX-License-Identifier: MIT
# If tracefs is not mounted, root can still use tracepoints, and nothing is mounted for that: also in a chroot, where
# "/" is no mount point, and without /sys.
. "$GM_TOP/tests/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root privileges, to use tracefs where it is not mounted"
can_trace || skip "perf tracepoints are not permitted here"

# In a mount namespace: COMMAND without tracefs; 99: it has changed the mounts.
cat >bare.sh <<'END'
for dir in /sys/kernel/tracing /sys/kernel/debug; do
	while grep -q " $dir " /proc/self/mounts; do
		umount -l $dir || exit 77
	done
done
cp /proc/self/mounts before
"$@" || exit
cmp before /proc/self/mounts || exit 99
END
# In a mount namespace: COMMAND in the folder root, which has all of the system but /sys.
cat >chroot.sh <<'END'
here=$PWD
mkdir -p root/sys || exit 77
for dir in /*; do
	if [ -L "$dir" ]; then
		cp -a "$dir" root
	elif [ -d "$dir" ] && [ "$dir" != /sys ]; then
		mkdir -p "root$dir" && mount --rbind "$dir" "root$dir" || exit 77
	fi
done
exec chroot root sh -c 'cd "$0" && exec "$@"' "$here" "$@"
END

# check WAY SCRIPT COMMAND...: record finds perf's tracepoints
check()
{
	local way=$1 status
	rm -rf gprof-mt.data gprof-mt.data.old
	"${@:2}" "$gprof_mt" record --set kernel.source=perf true 2>err
	status=$?
	[ $status != 77 ] || skip "$way: not possible here"
	[ $status != 99 ] || fail "$way: something remains mounted"
	[ $status = 0 ] || fail "$way: status $status: $(cat err)"
	[ "$(info 'kernel source')" = perf ] || fail "$way: $(cat err; info kernel)"
	kernel_events gprof-mt.data | grep -q 'sched_process_exec: .*true' || fail "$way: no events"
}
if unshare -m true 2>/dev/null; then
	check unmounted unshare -m sh bare.sh
	check chroot unshare -m sh chroot.sh sh bare.sh
elif ! grep -q tracefs /proc/self/mounts; then
	check here sh bare.sh
else
	skip "tracefs is mounted, and a mount namespace of its own is not permitted"
fi
