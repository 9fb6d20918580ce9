#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor says what record then does, a line a check, and a remedy under each that is not well.
. "$GM_TOP/tests/lib.sh"

"$gprof_mt" doctor >out 2>err || fail "exit status; $(cat out err)"
[ ! -s err ] || fail "stderr: $(cat err)"
for check in 'runtime libraries' 'BPF programs' 'perf tracepoints' perf_event_paranoid tracefs 'clock source' lttng-sessiond \
	'LTTng kernel tracer' gprof babeltrace2; do
	[ "$(grep -cE "^(ok|poor|no) +$check " out)" = 1 ] || fail "no line on $check: $(cat out)"
done
awk '/^(poor|no) / { bad++; if (getline line <= 0 || line !~ /^ +-> /) exit 1; next } /^ok / { next } { exit 1 }' \
	out || fail "a check without a remedy: $(cat out)"

"$gprof_mt" record -q true || fail "record"
if grep -q '^ok *LTTng kernel tracer' out; then
	[ "$(info 'kernel source')" = lttng ] || fail "doctor says LTTng, record took another"
elif grep -q '^ok *BPF programs' out; then
	[ "$(info 'kernel source')" = bpf ] || fail "doctor says BPF, record took another"
elif can_trace; then
	[ "$(info 'kernel source')" = perf ] || fail "doctor says tracepoints, record took another"
elif grep -q '^ok *context-switch' out; then
	[ "$(info 'kernel source')" = switches ] || fail "doctor says switches, record took another"
else
	[ "$(info 'kernel source')" = none ] || fail "doctor says nothing, record took something"
fi

# Libraries that are not there: nothing can be recorded, and both say so.
mkdir empty
GPROF_MT_LIBDIR=$PWD/empty "$gprof_mt" doctor >out
[ $? = 1 ] && grep -q '^no *runtime libraries' out || fail "missing libraries: $(cat out)"
GPROF_MT_LIBDIR=$PWD/empty "$gprof_mt" record -o none echo ran >out 2>err
[ $? = 1 ] && [ ! -s out ] && [ ! -e none ] || fail "recorded without libraries"
grep -q "libgmon_mt.so and libsync_trace.so are not in $PWD/empty" err || fail "$(cat err)"

"$gprof_mt" doctor true extra 2>err
[ $? = 2 ] || fail "an argument too many is taken"

# program NAME CALLS SYNCHRONIZATION NAMES: the verdicts on it
program()
{
	"$gprof_mt" doctor "$1" >out 2>err || fail "doctor $1: $(cat out err)"
	shift
	for what in calls synchronization names; do
		[ "$(awk -v what=$what '$2 == what { verdict = $1 } END { print verdict }' out)" = "$1" ] || fail "$what, not $1: $(tail -n 6 out)"
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
[ $? = 1 ] && grep -q './none' err || fail "a program that is not there: $(cat err)"
