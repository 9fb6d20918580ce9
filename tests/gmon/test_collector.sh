#!/bin/bash
# SPDX-License-Identifier: MIT
# The kernel's events are recorded without `gprof-mt record` if the configuration that GPROF_MT_CONFIG names
# requests them. The gprof-mt beside the library, or the installed one, is started; PATH and the working
# directory have no effect.
. "$GM_TOP/tests/lib.sh"
unset GPROF_MT_CONFIG

"$CC" -pg -g -O2 -pthread -o process_state "$GM_TOP/tests/gmon/programs/process_state.c" -L"$GM_BUILD" -lgmon_mt \
	-Wl,-rpath,"$GM_BUILD" || fail "cannot compile"
"$CC" -g -O2 -pthread -o plain_process_state "$GM_TOP/tests/gmon/programs/process_state.c" || fail "cannot compile"
"$gprof_mt" doctor | grep -qE "^ok *(perf tracepoints|context-switch|LTTng kernel)" ||
	skip "no scheduling events are permitted here"

# The first gprof-mt in PATH belongs to something else.
mkdir planted
cat >planted/gprof-mt <<-END
	#!/bin/sh
	echo "\$*" >>'$PWD/was_run'
END
chmod +x planted/gprof-mt
export PATH=$PWD/planted:$PATH

# fresh [ENVIRONMENT...]: runs the program without an existing capture
fresh()
{
	rm -rf gprof-mt.data gprof-mt.data.old gmon.out
	env "$@" ./process_state >out 2>err || fail "exit status $?: $(cat err)"
	[ ! -e was_run ] || fail "$*: executed the gprof-mt of PATH: $(cat was_run)"
}

# Kernel events are recorded only on request.
fresh
cp out plain
[ "$(info 'kernel source')" = none ] || fail "recorded without being asked"

# A configuration file in the working directory starts nothing, and the capture gives the reason.
asked=$PWD/asked.conf
printf '[kernel]\nsource = auto\n' >"$asked"
cp asked.conf gprof-mt.conf
fresh
diff plain out || fail "the program sees it"
[ ! -s err ] || fail "on stderr: $(cat err)"
[ "$(info 'kernel source')" = none ] || fail "started by a file of the working directory"
[[ $(info 'kernel why') == *GPROF_MT_CONFIG* ]] || fail "expected a reason that names GPROF_MT_CONFIG: $(info kernel)"
rm gprof-mt.conf

[ "$(stat -c %u /)" = 0 ] || skip '"/" belongs to a user that this user namespace does not know, so no program is trusted'

# Requested: the program's output does not change, and `report` has its threads' times at once.
recorded()
{
	fresh GPROF_MT_CONFIG="$asked"
	diff plain out || fail "the program sees it"
	[ ! -s err ] || fail "on stderr: $(cat err)"
	"$gprof_mt" report --format json threads quality >report.json || fail "report"
	[ "$(info 'kernel source')" != none ] || fail "nothing recorded: $(info kernel)"
	jq -e '.kernel.collector == null' gprof-mt.data/info.json >/dev/null || fail "not complete: $(info kernel)"
	jq -e '[.losses[]?] | length == 0' gprof-mt.data/info.json >/dev/null || return 1
}
retry recorded
babeltrace2 gprof-mt.data/kernel >text || fail "babeltrace2"
grep -q sched_switch text || fail "no switches"
# The thread used 100 ms of CPU time and slept for 50 ms.
jq -e '[.threads[] | select(.running_ns >= 95e6 and
	.end_ns - .start_ns - .running_ns >= 45e6)] | length == 1' report.json >/dev/null ||
	fail "the thread's times: $(jq -c .threads report.json)"

# The same with libsync_trace alone, and with both libraries: the one that creates the capture starts the
# collector.
sync=$GM_BUILD/libsync_trace.so gmon=$GM_BUILD/libgmon_mt.so
for preload in "$sync" "$sync:$gmon" "$gmon:$sync"; do
	rm -rf gprof-mt.data gmon.out
	program=./process_state
	[ "$preload" != "$sync" ] || program=./plain_process_state
	GPROF_MT_CONFIG=$asked LD_PRELOAD=$preload $program >out 2>err || fail "$preload: exit status $?"
	diff plain out || fail "$preload: the program sees it"
	[ ! -s err ] || fail "$preload: on stderr: $(cat err)"
	"$gprof_mt" report threads >report 2>&1 || fail "$preload: report: $(cat report)"
	[ "$(info 'kernel source')" != none ] || fail "$preload: nothing recorded: $(info kernel)"
done

# A program whose descriptors 0 and 1 are closed, so that the library's get these numbers.
rm -rf gprof-mt.data gmon.out
GPROF_MT_CONFIG=$asked ./process_state <&- >&- 2>err || fail "nothing open: exit status $?"
[ ! -s err ] || fail "nothing open: $(cat err)"
[ "$(info 'kernel source')" != none ] || fail "nothing open: nothing recorded: $(info kernel)"

# A source given by name, and a level without kernel events.
printf '[kernel]\nsource = switches\n' >"$asked"
retry recorded
[ "$(info 'kernel source')" = switches ] || fail "$(info kernel)"
fresh GPROF_MT_CONFIG="$GM_TOP/configs/applic-only.conf"
[ "$(info 'kernel source')" = none ] || fail "recorded at applic-only"
printf '[kernel]\nsource = auto\n' >"$asked"

# not_started NAME PATTERN: the libraries in ./lib do not start a collector. The program's output does not
# change, and one line gives the reason.
not_started()
{
	fresh GPROF_MT_CONFIG="$asked" LD_LIBRARY_PATH="$PWD/lib" LD_PRELOAD="$PWD/lib/libgmon_mt.so"
	diff plain out || fail "$1: the program's output changed"
	[ "$(wc -l <err)" = 1 ] && grep -q -- "$2" err || fail "$1: expected one line with the reason, got: $(cat err)"
	[ "$(info 'kernel source')" = none ] || fail "$1: started"
	"$gprof_mt" report threads >out || fail "$1: report without the kernel's events"
}

# No gprof-mt is found, or another user may replace it or the directory that it is in.
mkdir lib
chmod 755 lib
cp "$GM_BUILD/libgmon_mt.so" lib/
installed=$(cat "$GM_BUILD/obj/bindir")/gprof-mt
[ -e "$installed" ] || not_started missing "gprof-mt is neither in .*/lib nor in ${installed%/*}"
cp "$gprof_mt" lib/
fresh GPROF_MT_CONFIG="$asked" LD_PRELOAD="$PWD/lib/libgmon_mt.so"
[ "$(info 'kernel source')" != none ] || fail "beside the library: nothing recorded: $(cat err)"
chmod 777 lib/gprof-mt
not_started "a file that others may write to" "lib/gprof-mt: it belongs to another user, or others may write"
chmod 755 lib/gprof-mt
chmod 777 lib
not_started "a directory that others may write to" "lib/gprof-mt: it belongs to another user, or others may write"
mkdir elsewhere
mv lib/gprof-mt elsewhere/
chmod 755 lib
ln -s ../elsewhere/gprof-mt lib/gprof-mt
not_started "a symlink" "lib/gprof-mt: it is a symlink"

# Under record, record is the collector.
"$gprof_mt" record -q ./process_state >out 2>err || fail "record: $(cat err)"
[ "$(info recorder)" = record ] || fail "expected the recorder to be record, got $(info recorder)"

# The process that info.json names as collector may be any process. report waits only while it holds the lock,
# by nanosleep() calls, which return at once here.
cat >naps.c <<-'END'
	#include <time.h>
	#include <unistd.h>
	int nanosleep(const struct timespec *time, struct timespec *rest)
	{
		(void)time;
		(void)rest;
		return write(2, "nap\n", 4) == 4 ? 0 : -1;
	}
END
"$CC" -shared -fPIC -o naps.so naps.c || fail "cannot compile"
# report COMMAND...: runs the quality report by COMMAND.
report()
{
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 LD_PRELOAD=$PWD/naps.so \
		"$@" "$gprof_mt" report quality >out 2>err || fail "report: $(cat err)"
}
fresh GPROF_MT_CONFIG="$asked"
"$gprof_mt" report >out 2>&1 || fail "report: $(cat out)"
flock -s gprof-mt.data true # the collector itself has ended
sh -c 'exit 0' &
gone=$!
wait $gone
jq --argjson gone $gone --argjson here $$ '.pid = $gone | .kernel.collector = $here' gprof-mt.data/info.json >info.new ||
	fail "no info.json"
mv info.new gprof-mt.data/info.json
report env
! grep -q nap err || fail "waited $(wc -l <err) times for an unrelated process"
grep -q 'collector was killed' out || fail "no message about the killed collector: $(cat out)"
report flock gprof-mt.data
grep -q nap err || fail "report does not wait for the collector"
grep -q 'collector has not ended' out || fail "$(cat out)"
