#!/bin/bash
# SPDX-License-Identifier: MIT
# The samples of a killed program are kept, and are in the gmon files that record writes. moncontrol(0) stops
# sampling, short threads get their share, and missing samples have a reason.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"
export -n GPROF_MT_CONFIG

# record PROGRAM ARGUMENT...
record()
{
	rm -rf gprof-mt.data
	"$gprof_mt" record -q --set kernel.source=none --set sync.mode=off \
		--set sample.hz=250 -- "$@"
}

build_pg ratio -falign-functions=64
record ./ratio 300 2 kill >out 2>err
[ $? = 137 ] || fail "expected exit status 137, got $?"
"$gprof_mt" report --format json flat >flat.json || fail "report"
check ratio "$(folder)" out
theirs=()
for index in 0 1; do
	file=$(echo "$(folder)/gmon.$index".[0-9]*[0-9])
	theirs+=("$index" a "$(self ratio "$file" a)" "$index" b "$(self ratio "$file" b)")
done
check same flat.json "${theirs[@]}"

sampling 250
build_pg short_threads
fresh ./short_threads 200 >out || fail "short_threads: exit status $?"
read -r used all <out
check total "$(folder)" "$used" "$all"

build_pg helper_thread
fresh ./helper_thread || fail "helper_thread: exit status $?"
"$gprof_mt" report --format json flat >flat.json || fail "report"
check only flat.json after nobody

build_pg pauses
fresh ./pauses || fail "pauses: exit status $?"
"$gprof_mt" report --format json flat >flat.json || fail "report"
check only flat.json counted uncounted

# none REASON COMMAND...: pauses, run by COMMAND, has calls but no times, for REASON.
none()
{
	local why=$1
	shift
	fresh "$@" ./pauses || fail "$why: exit status $?"
	"$gprof_mt" report --format json flat >flat.json || fail "$why: report"
	check none flat.json "$why"
	gprof -b -p pauses gmon.out >out 2>&1
	grep -q 'no time accumulated' out || fail "$why: gprof says: $(cat out)"
}

none "no timer: Resource temporarily unavailable" prlimit --sigpending=0
none "Linux before 5.10" setarch --uname-2.6
sampling 0
none "sample.hz = 0" env

for hz in -1 1001 10K x ''; do
	rm -rf gprof-mt.data gmon.out
	sampling "$hz"
	./short_threads 0 2>err >out || fail "hz = $hz: exit status $?"
	grep -q "sample.conf:2: invalid value '$hz' for sample.hz: use a number from 0 to 1000" err ||
		fail "hz = $hz: $(cat err)"
	[ ! -e gprof-mt.data ] || fail "profiled with hz = $hz"
done
exit 0
