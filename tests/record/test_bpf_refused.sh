#!/bin/bash
# SPDX-License-Identifier: MIT
# If BPF programs are not permitted, the next best source is used. info.json and `doctor` give the reason;
# record prints it only if the configuration names BPF.
. "$GM_TOP/tests/lib.sh"
[ "$(id -u)" = 0 ] || skip "needs root privileges, to drop some of them"
can_trace || skip "perf tracepoints are not permitted here"
has_bpf || skip "$("$gprof_mt" doctor | grep -A 1 'BPF programs' | tr -s ' \n' ' ')"
! "$gprof_mt" doctor | grep -q '^ok *LTTng kernel tracer' || skip "auto uses LTTng here"
build without_call -O2
bpf=321

# refused SOURCE REASON COMMAND...: under COMMAND, `auto` uses SOURCE for that reason.
refused()
{
	local source=$1 reason=$2
	shift 2
	rm -rf data data.old
	"$@" "$gprof_mt" record -q -o data --set sync.mode=off true >out 2>err || fail "$*: exit status: $(cat err)"
	[ "$(info 'kernel source' data)" = "$source" ] || fail "$*: $(info kernel data)"
	[[ "$(info 'kernel why' data)" == "BPF programs: "*$reason* ]] || fail "$*: why: $(info 'kernel why' data)"
	[ "$source" != perf ] || ! grep -q 'BPF\|kernel events\|scheduling events' err || fail "$*: unexpected message about the source: $(cat err)"
}
refused perf "no sandbox" ./without_call $bpf 1
refused perf "Function not implemented" ./without_call $bpf 38

# The remedy in doctor's output; and the message if the configuration names BPF.
./without_call $bpf 1 "$gprof_mt" doctor >doctor 2>/dev/null
grep -A 1 '^poor *BPF programs.*no sandbox' doctor | grep -q '^ *->' || fail "doctor: $(cat doctor)"
./without_call $bpf 1 "$gprof_mt" record -o named --set kernel.source=bpf --set sync.mode=off true >out 2>err ||
	fail "by name: exit status: $(cat err)"
[ "$(info 'kernel source' named)" = none ] || fail "by name: $(info kernel named)"
grep -q 'not recorded here: scheduling events (BPF programs: .*); see gprof-mt doctor' err || fail "by name: $(cat err)"

# Without the capability for BPF, with the one for perf's tracepoints.
if command -v setpriv >/dev/null && setpriv --bounding-set=-bpf,-sys_admin true 2>/dev/null; then
	setpriv --bounding-set=-bpf,-sys_admin "$gprof_mt" doctor >doctor 2>/dev/null
	! grep -q '^ok *perf tracepoints' doctor ||
		refused perf "needs CAP_BPF" setpriv --bounding-set=-bpf,-sys_admin
fi

# A kernel without BTF, with another kernel's BTF, with invalid BTF; a kernel that hides process ids.
unshare -m true 2>/dev/null || exit 0
btf=/sys/kernel/btf/vmlinux
cat >other_btf.sh <<'END'
mount --bind "$1" /sys/kernel/btf/vmlinux || exit
shift
exec "$@"
END
python3 - $btf <<'END' || fail "cannot read $btf"
import sys
real = open(sys.argv[1], "rb").read()
open("half", "wb").write(real[:len(real) // 2])
open("other", "wb").write(real.replace(b"\0cfs_rq\0", b"\0cfs_qr\0"))
open("no_tcp", "wb").write(real.replace(b"\0btf_trace_tcp_probe\0", b"\0btf_trace_pct_probe\0"))
open("none", "wb").write(bytes(range(256)) * 1000)
END
for file in half none; do
	refused perf "$btf: " unshare -m sh other_btf.sh $file
done
refused perf "unsupported kernel scheduler layout" unshare -m sh other_btf.sh other
# Without the tracepoints that show who sent by TCP, the other programs are used.
! cmp -s $btf no_tcp || fail "$btf has no tcp_probe"
rm -rf data
unshare -m sh other_btf.sh no_tcp "$gprof_mt" record -q -o data --set sync.mode=off true >out 2>err ||
	fail "no_tcp: $(cat err)"
[ "$(info 'kernel source' data)" = bpf ] || fail "no_tcp: $(info kernel data)"
! unshare --pid --fork --mount-proc true 2>/dev/null ||
	refused switches "pid namespace" unshare --pid --fork --mount-proc
