#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor's advice on privileges works: after an ordinary user has followed it, doctor says "ok" of that check, and
# record uses what was gained.
. "$GM_TOP/tests/record/advice.sh"
need setcap

has_bpf && best=bpf || best=perf
[ $best = bpf ] || can_trace || skip "$("$gprof_mt" doctor | grep -A 1 'perf tracepoints' | tr -s ' \n' ' ')"
! "$gprof_mt" doctor | grep -q '^ok *LTTng kernel tracer' || skip "auto uses LTTng here"
checks=('perf tracepoints' perf_event_paranoid tracefs capabilities)
[ $best != bpf ] || checks=('BPF programs' "${checks[@]}")

follow_all()
{
	local check
	for check in "${checks[@]}"; do
		follow "$check"
	done
	gained $best
	echo "$1: ok"
}

install_here
doctor
# All mounts of tracefs have the same options, so those of the machine must not be changed.
if [ -n "${GM_PRIVATE:-}" ] && ! grep -q tracefs /proc/self/mounts; then
	says tracefs 'not mounted'
	# Another program may mount tracefs meanwhile: it must not keep the test's options.
	trap 'mount -o remount,mode=700,gid=0 /sys/kernel/tracing 2>/dev/null; rm -rf "$home"' EXIT
	follow_all unmounted
	install_here
	mount -o remount,mode=700,gid=0 /sys/kernel/tracing || fail remount
	says tracefs 'only for root'
	follow_all closed
	setcap cap_perfmon,cap_bpf+ep "$home/gprof-mt"
	says tracefs 'only for root'
	follow tracefs
	gained $best
	mount -o remount,mode=700,gid=0 /sys/kernel/tracing && umount /sys/kernel/tracing
elif grep -q '^no *tracefs *not mounted' out; then
	echo "tracefs is not mounted, and mounts of the test's own are not permitted"
else
	follow_all "as it is"
fi

# Little memory for rings.
install_here
ulimit -S -l 16
says 'memory for rings' '16 KiB in all'
follow 'memory for rings'
ulimit -l 16
says 'memory for rings' '16 KiB in all'
if prlimit --pid $$ --memlock=32768:32768 2>/dev/null; then
	follow 'memory for rings'
else
	echo "root may not raise limits here"
fi

# The libraries.
mkdir "$home/empty"
export GPROF_MT_LIBDIR=$home/empty
"${as[@]}" "$home/gprof-mt" doctor >out 2>err
[ $? = 1 ] && grep -q '^no *runtime libraries' out || fail "no libraries: $(cat out)"
eval "$(advice 'runtime libraries')"
doctor
grep -q '^ok *runtime libraries' out || fail "$(cat out)"
rm -r "$home"/{libgmon_mt.so,gprof-mt.preload}
"${as[@]}" "$home/gprof-mt" doctor >out 2>err
[ $? = 1 ] && [ "$(advice 'runtime libraries')" = 'make install' ] || fail "no libraries: $(cat out)"
cp "$GM_BUILD/libgmon_mt.so" "$home"
says 'other programs' 'without gprof-mt.preload'
[ "$(advice 'other programs')" = 'make install' ] || fail "$(cat out)"
if ! with_sanitizers; then
	# Another prefix changes the libraries, which other tests use meanwhile.
	mkdir built && cp -r --preserve=timestamps \
		"$GM_BUILD"/{obj,generated,page,page.html,gprof-mt,gprof-mt.preload,*.so,*.a} built ||
		fail "cannot copy the build"
	make -C "$GM_TOP" install B="$PWD/built" PREFIX="$home/local" >make.log 2>&1 || fail "$(cat make.log)"
	"${as[@]}" "$home/local/bin/gprof-mt" doctor >out 2>err
	for check in 'runtime libraries' 'other programs'; do
		grep -q "^ok *$check" out || fail "after make install: $(cat out err)"
	done
fi

# The configuration.
install_here
printf '[sync]\nmode = of\n' >"$home/config"
export GPROF_MT_CONFIG=$home/config
says configuration "config:2: "
[ "$(advice configuration)" = 'correct the file' ] || fail "$(cat out)"
sed -i 's/of$/off/' "$home/config"
for mode in off contended; do
	sed -i "s/=.*/= $mode/" "$home/config"
	says synchronization $mode
	command=$(advice synchronization)
	[[ $command = 'record --set sync.mode='* ]] || fail "$(cat out)"
	# shellcheck disable=SC2086 # words
	(cd "$home/captures" && "${as[@]}" "$home/gprof-mt" $command -q true) || fail "$command"
	grep -qx "mode = ${command##*=}" "$home/captures/gprof-mt.data/config" || fail "$command: $(cat "$home/captures/gprof-mt.data/config")"
	rm -rf "$home/captures/gprof-mt.data"
done
exit 0
