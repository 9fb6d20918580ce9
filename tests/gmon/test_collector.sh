#!/bin/bash
# SPDX-License-Identifier: MIT
# The kernel's events without `gprof-mt record`: where a configuration that GPROF_MT_CONFIG names asks for
# them.  What is started is gprof-mt beside the library, or where it was installed; nothing in PATH or the
# working directory matters.
. "$GM_TOP/tests/lib.sh"
unset GPROF_MT_CONFIG

"$CC" -pg -g -O2 -pthread -o alone "$GM_TOP/tests/gmon/programs/alone.c" -L"$GM_BUILD" -lgmon_mt \
	-Wl,-rpath,"$GM_BUILD" || fail "cannot compile"
"$CC" -g -O2 -pthread -o plain_alone "$GM_TOP/tests/gmon/programs/alone.c" || fail "cannot compile"
"$gprof_mt" doctor | grep -qE "^ok *(perf tracepoints|context-switch|LTTng kernel)" ||
	skip "no scheduling events are permitted here"

# The first gprof-mt in PATH is another's.
mkdir planted
cat >planted/gprof-mt <<-END
	#!/bin/sh
	echo "\$*" >>'$PWD/was_run'
END
chmod +x planted/gprof-mt
export PATH=$PWD/planted:$PATH

# fresh [ENVIRONMENT...]: a run without a capture there
fresh()
{
	rm -rf gprof-mt.data gprof-mt.data.old gmon.out
	env "$@" ./alone >out 2>err || fail "exit status $?: $(cat err)"
	[ ! -e was_run ] || fail "$*: executed the gprof-mt of PATH: $(cat was_run)"
}

# Nobody asked: as ever.
fresh
cp out plain
[ "$(info 'kernel source')" = none ] || fail "recorded without being asked"

# A configuration that only lies in the working directory starts nothing, and the capture says so.
asked=$PWD/asked.conf
printf '[kernel]\nsource = auto\n' >"$asked"
cp asked.conf gprof-mt.conf
fresh
diff plain out || fail "the program sees it"
[ ! -s err ] || fail "on stderr: $(cat err)"
[ "$(info 'kernel source')" = none ] || fail "started by a file of the working directory"
[[ $(info 'kernel why') == *GPROF_MT_CONFIG* ]] || fail "not told: $(info kernel)"
rm gprof-mt.conf

# Asked: the program sees nothing of it, and `report` has its threads' times, at once.
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
# The thread burnt 100 ms of CPU time and slept 50.
jq -e '[.threads[] | select(.running_ns >= 95e6 and
	.end_ns - .start_ns - .running_ns >= 45e6)] | length == 1' report.json >/dev/null ||
	fail "the thread's times: $(jq -c .threads report.json)"

# The same with libsync_trace alone, and with both: whichever makes the capture starts the collector.
sync=$GM_BUILD/libsync_trace.so gmon=$GM_BUILD/libgmon_mt.so
for preload in "$sync" "$sync:$gmon" "$gmon:$sync"; do
	rm -rf gprof-mt.data gmon.out
	program=./alone
	[ "$preload" != "$sync" ] || program=./plain_alone
	GPROF_MT_CONFIG=$asked LD_PRELOAD=$preload $program >out 2>err || fail "$preload: exit status $?"
	diff plain out || fail "$preload: the program sees it"
	[ ! -s err ] || fail "$preload: on stderr: $(cat err)"
	"$gprof_mt" report threads >report 2>&1 || fail "$preload: report: $(cat report)"
	[ "$(info 'kernel source')" != none ] || fail "$preload: nothing recorded: $(info kernel)"
done

# A program whose descriptors 0 and 1 are closed: ours have these numbers then.
rm -rf gprof-mt.data gmon.out
GPROF_MT_CONFIG=$asked ./alone <&- >&- 2>err || fail "nothing open: exit status $?"
[ ! -s err ] || fail "nothing open: $(cat err)"
[ "$(info 'kernel source')" != none ] || fail "nothing open: nothing recorded: $(info kernel)"

# One source that is named; a level without any.
printf '[kernel]\nsource = switches\n' >"$asked"
retry recorded
[ "$(info 'kernel source')" = switches ] || fail "$(info kernel)"
fresh GPROF_MT_CONFIG="$GM_TOP/configs/applic-only.conf"
[ "$(info 'kernel source')" = none ] || fail "recorded at applic-only"
printf '[kernel]\nsource = auto\n' >"$asked"

# not_started WHAT PATTERN: by the libraries in ./lib.  The program runs as ever, and one line says why.
not_started()
{
	fresh GPROF_MT_CONFIG="$asked" LD_LIBRARY_PATH="$PWD/lib" LD_PRELOAD="$PWD/lib/libgmon_mt.so"
	diff plain out || fail "$1: the program is another"
	[ "$(wc -l <err)" = 1 ] && grep -q -- "$2" err || fail "$1: not told: $(cat err)"
	[ "$(info 'kernel source')" = none ] || fail "$1: started"
	"$gprof_mt" report threads >out || fail "$1: report without the kernel's events"
}

# No gprof-mt to be found; one that another user may replace, or the directory that it is in.
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
not_started "a symlink" "lib/gprof-mt: it is a symbolic link"

# Under record that is what collects.
"$gprof_mt" record -q ./alone >out 2>err || fail "record: $(cat err)"
[ "$(info recorder)" = record ] || fail "not record's"

# Who is named as the collector may be anybody.  It is waited for as long as it holds the lock, each
# look being a nanosleep() that here takes no time.
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
# report COMMAND...: its report of quality, run by that command.
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
! grep -q nap err || fail "waited for a stranger: $(wc -l <err) times"
grep -q 'collector was killed' out || fail "its end is missing: $(cat out)"
report flock gprof-mt.data
grep -q nap err || fail "the collector is not waited for"
grep -q 'collector has not ended' out || fail "$(cat out)"
