#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor tells what record then does: a line for each check, and a remedy below each that failed.
. "$GM_TOP/tests/lib.sh"

"$gprof_mt" doctor >out 2>err || fail "exit status; $(cat out err)"
[ ! -s err ] || fail "stderr: $(cat err)"
for check in 'runtime libraries' 'BPF programs' 'perf tracepoints' perf_event_paranoid tracefs 'clock source' lttng-sessiond \
	'LTTng kernel tracer' gprof babeltrace2; do
	[ "$(grep -cE "^(ok|poor|no) +$check " out)" = 1 ] || fail "expected one line on $check: $(cat out)"
done
awk '/^(poor|no) / { bad++; if (getline line <= 0 || line !~ /^ +-> /) exit 1; next } /^ok / { next } { exit 1 }' \
	out || fail "a check without a remedy: $(cat out)"

"$gprof_mt" record -q true || fail "record"
if grep -q '^ok *LTTng kernel tracer' out; then
	[ "$(info 'kernel source')" = lttng ] || fail "doctor reports LTTng, record used $(info 'kernel source')"
elif grep -q '^ok *BPF programs' out; then
	[ "$(info 'kernel source')" = bpf ] || fail "doctor reports BPF, record used $(info 'kernel source')"
elif can_trace; then
	[ "$(info 'kernel source')" = perf ] || fail "doctor reports tracepoints, record used $(info 'kernel source')"
elif grep -q '^ok *context-switch' out; then
	[ "$(info 'kernel source')" = switches ] || fail "doctor reports switches, record used $(info 'kernel source')"
else
	[ "$(info 'kernel source')" = none ] || fail "doctor reports no source, record used $(info 'kernel source')"
fi

# The runtime libraries are missing: nothing can be recorded, and both commands report it.
mkdir empty
GPROF_MT_LIBDIR=$PWD/empty "$gprof_mt" doctor >out
[ $? = 1 ] && grep -q '^no *runtime libraries' out || fail "missing libraries: $(cat out)"
GPROF_MT_LIBDIR=$PWD/empty "$gprof_mt" record -o none echo ran >out 2>err
[ $? = 1 ] && [ ! -s out ] && [ ! -e none ] || fail "recorded without libraries"
grep -q "libgmon_mt.so and libsync_trace.so are not in $PWD/empty" err || fail "$(cat err)"
# An empty variable is no directory.
GPROF_MT_LIBDIR='' "$gprof_mt" doctor | grep -q '^ok *runtime libraries' || fail "GPROF_MT_LIBDIR is empty"

"$gprof_mt" doctor true extra 2>err
[ $? = 2 ] || fail "expected status 2 for an extra argument"

# program NAME CALLS SYNCHRONIZATION NAMES: checks doctor's verdicts on the program
program()
{
	"$gprof_mt" doctor "$1" >out 2>err || fail "doctor $1: $(cat out err)"
	shift
	for what in calls synchronization names; do
		[ "$(awk -v what=$what '$2 == what { verdict = $1 } END { print verdict }' out)" = "$1" ] || fail "$what: expected $1, got: $(tail -n 6 out)"
		shift
	done
}

echo 'int main(void) { return 0; }' >app.c
"$CC" -pg -g app.c -o whole && "$CC" app.c -o bare && "$CC" -s app.c -o stripped &&
	"$CC" -static -pg -g app.c -o static || fail "cannot compile"
"$CC" -static -pg -g app.c -o linked "$GM_BUILD/libgmon_mt.a" || fail "cannot link"
program ./whole ok ok ok
program ./bare poor ok poor
program ./stripped poor ok no
program ./static no no ok
program ./linked ok no ok
echo 'exit 0' >script
chmod +x script
"$gprof_mt" doctor ./script | grep -q '^ok *program *a script' || fail "a script"
"$gprof_mt" doctor ./none >out 2>err
[ $? = 1 ] && grep -q './none' err || fail "a missing program: $(cat err)"
