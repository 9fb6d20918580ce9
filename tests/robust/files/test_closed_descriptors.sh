#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program that is started with any of stdin, stdout and stderr closed gets these numbers for its own files.
# Neither the libraries, nor the collector that they start, nor `record` write into them, and nothing about the
# program changes.
. "$GM_TOP/tests/lib.sh"

build closed_descriptors
build_pg closed_descriptors -o closed_descriptors.pg
printf '[kernel]\nsource = auto\n' >asked.conf
collects=$("$gprof_mt" doctor | grep -cE '^ok *(perf tracepoints|context-switch|LTTng kernel)')
[ "$collects" -gt 0 ] || echo "no scheduling events are permitted here: no collector is started"

# run_closed COMMAND...: runs the command with the descriptors in $closed closed; keeps what it leaves in `seen`
run_closed()
{
	rm -rf gprof-mt.data gprof-mt.data.old gmon.out result data.? out err
	(
		[[ $closed != *0* ]] || exec 0<&-
		[[ $closed != *1* ]] || exec 1>&-
		[[ $closed != *2* ]] || exec 2>&-
		exec "$@"
	) <in >out 2>err
	echo "exit status $?" >seen
	cat result out data.? in >>seen 2>&1
}

# check NAME COMMAND...: the program does the same as without gprof-mt, and the capture has all its locks
check()
{
	local what="$1, without descriptors '$closed'" found
	run_closed "${@:2}"
	same "$what" "$(cat bare)" "$(cat seen)"
	# `record` prints lines of its own.
	[[ $1 == record* ]] || same "$what: stderr" "$(cat bare.err)" "$(cat err)"
	"$gprof_mt" report --format json sync >report.json 2>report.err || fail "$what: report: $(cat report.err)"
	found=$(python3 -c 'import json
rows = json.load(open("report.json"))["sync"]
print(sum(row["calls"] for row in rows if row["function"] == "pthread_mutex_lock"))')
	same "$what: locks" "$locks" "$found"
}

# check_source NAME: the source of the kernel's events is that of the run with all descriptors open
check_source()
{
	[ -n "$closed" ] || info 'kernel source' >"source.$1"
	same "$1, without descriptors '$closed': kernel source" "$(cat "source.$1")" "$(info 'kernel source')"
}

echo in >in
for closed in '' 0 1 2 01 02 12 012; do
	run_closed ./closed_descriptors
	mv seen bare
	mv err bare.err
	locks=0
	check libgmon-mt ./closed_descriptors.pg
	locks=16000
	check both env LD_PRELOAD="$libsync" ./closed_descriptors.pg
	if [ "$collects" -gt 0 ]; then
		check collector env GPROF_MT_CONFIG="$PWD/asked.conf" LD_PRELOAD="$libsync" ./closed_descriptors.pg
		check_source collector
	fi
	check record "$gprof_mt" record ./closed_descriptors.pg
	check_source record
	check "record, quiet" "$gprof_mt" record -q --set kernel.source=none ./closed_descriptors
done
exit 0
