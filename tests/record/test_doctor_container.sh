#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor in a container or chroot: it advises nothing that only the host can do without saying so, and what it advises
# works. The containers are made of what containers consist of: fewer capabilities, namespaces, missing mounts.
. "$GM_TOP/tests/record/advice.sh"
install_here
lines=('BPF programs' 'perf tracepoints' perf_event_paranoid tracefs capabilities container)

# refers_to_host NAME: doctor says what the host or the container's start can change
refers_to_host()
{
	local check text
	doctor
	grep -qE '^(poor|no) +perf tracepoints' out || { echo "$1: tracepoints are permitted"; return; }
	for check in "${lines[@]}"; do
		text=$(advice "$check")
		case $text in
		'' | 'record on the host'* | 'on the host: '* | 'see '*' below'*) ;;
		*) fail "$1: $check: $text: $(cat out)" ;;
		esac
	done
	grep -qE '^(poor|no) +context-switch' out || gained switches
	echo "$1: ok"
}
as=(setpriv --bounding-set=-all)
"${as[@]}" true 2>/dev/null || skip "this root may not drop its capabilities"
refers_to_host 'no capabilities'
for namespaces in '' --net '--pid --fork --mount-proc'; do
	# shellcheck disable=SC2206 # words
	as=("${ordinary[@]}" unshare --user --map-root-user --mount $namespaces)
	if "${as[@]}" true 2>/dev/null; then
		refers_to_host "user namespace $namespaces"
	else
		echo "not permitted: ${as[*]}"
	fi
done
# A filter of system calls.
build without_call -O2
perf_event_open=298
cp without_call "$home"
as=("${ordinary[@]}" "$home/without_call" "$perf_event_open" 1)
if [ "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)" = 2 ]; then
	says 'context-switch records' 'a sandbox forbids perf_event_open()'
	[[ "$(advice 'context-switch records')" = *'outside any sandbox'* ]] || fail "$(cat out)"
	gained none
fi
[ -n "${GM_PRIVATE:-}" ] || exit 0

# Started with the capabilities and the tracefs that it asked for.
as=(setpriv --bounding-set=-all)
doctor
if has_bpf && grep -q '^no *tracefs' out; then
	[[ "$(advice 'BPF programs')" = *'start the container with CAP_BPF and CAP_PERFMON' ]] || fail "$(cat out)"
	[[ "$(advice tracefs)" = *"start the container with the host's /sys/kernel/tracing" ]] || fail "$(cat out)"
	as=(setpriv '--bounding-set=-all,+bpf,+perfmon')
	mount -t tracefs tracefs /sys/kernel/tracing || fail "mount"
	for check in 'BPF programs' 'perf tracepoints' tracefs capabilities; do
		follow "$check"
	done
	gained bpf
	umount /sys/kernel/tracing
fi

# A control group with half a CPU, and a slow clock.
as=()
mkdir -p "$home/groups/half"
echo '0::/half' >"$home/group"
echo '50000 100000' >"$home/groups/half/cpu.max"
echo hpet >"$home/clock"
cat >"$home/in_group" <<'END'
mount --bind "$0/group" /proc/$$/cgroup && mount --bind "$0/groups" /sys/fs/cgroup || exit 77
exec "$@"
END
as=(sh "$home/in_group" "$home")
clock=/sys/devices/system/clocksource/clocksource0/current_clocksource
if [ -d /sys/fs/cgroup ] && unshare -m "${as[@]}" true 2>/dev/null; then
	as=(unshare -m "${as[@]}")
	says 'CPU limit' 'the cgroup /half is limited to 0.50 CPUs'
	command=$(advice 'CPU limit')
	[[ $command = 'echo max | sudo tee /sys/fs/cgroup/half/cpu.max' ]] || fail "$command"
	(cd / && eval "${command/\/sys\/fs\/cgroup/"$home/groups"}" >/dev/null)
	doctor
	! grep '^poor *CPU limit' out || fail "after: $command"
else
	echo "no files of control groups"
fi
as=()
mount --bind "$home/clock" $clock || fail "bind"
says 'clock source' hpet
[[ "$(advice 'clock source')" = *'boot with clocksource=tsc'* ]] || fail "$(cat out)"
umount $clock

# Without /sys, and without /proc.
mount -t tmpfs none /sys || fail mount
says /sys 'not mounted'
[ "$(advice 'clock source')" = 'see /sys above' ] || fail "$(cat out)"
! has_bpf || fail "BPF programs without /sys: $(cat out)"
umount /sys
mount -t tmpfs none /sys
doctor
command=$(advice /sys)
eval "$command" || fail "$command"
doctor
! grep -E '^(poor|no) +(/sys|clock source)' out || fail "after $command: $(cat out)"
umount /sys
umount /sys

# LeakSanitizer needs /proc, where AddressSanitizer also reads its options: without /proc, a library gives them.
preload=()
if with_sanitizers; then
	"$CC" -shared -fPIC -o "$home/options.so" -x c - <<-'END' || fail "cannot compile options.so"
	const char *__asan_default_options(void)
	{
		return "detect_leaks=0:verify_asan_link_order=0";
	}
	END
	preload=(LD_PRELOAD="$home/options.so")
fi
mount -t tmpfs none /proc || fail mount
env "${preload[@]}" "$home/gprof-mt" doctor >out 2>err
command=$(advice /proc)
eval "$command" || fail "without /proc: $(cat out err)"
doctor
! grep -E '^(poor|no) +(/proc|runtime libraries)' out || fail "after $command: $(cat out)"
exit 0
