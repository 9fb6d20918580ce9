#!/bin/bash
# SPDX-License-Identifier: MIT
#
# With 250,000 mutexes a lock and unlock takes at most a quarter more instructions than with 1,000, both
# if all is recorded and if each mutex has to be looked up in a filter.  A report on 200,000 mutexes has
# all of them.  It takes at most 16 times as much memory as the capture takes disk space; as JSON, which
# has all operations by call site, 48 times.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need valgrind
need_tsc
build many_mutexes
unset GPROF_MT_CONFIG LD_PRELOAD

# instructions OBJECTS PAIRS
instructions()
{
	fresh "${on_tsc[@]}" env LD_PRELOAD="$libsync" valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		./many_mutexes "$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'
}

# pair OBJECTS: ten times the instructions of one lock and unlock
pair()
{
	echo $((($(instructions "$1" 51000) - $(instructions "$1" 1000)) / 5000))
}

for setting in "" "exclude = many_mutexes"; do
	printf '[sync]\nmode = all\n%s\n' "$setting" >gprof-mt.conf
	few=$(pair 1000)
	many=$(pair 250000)
	echo "${setting:-all recorded}: $few tenths of an instruction with 1000 mutexes, $many with 250000"
	[ "$few" -gt 100 ] || fail "expected more than 10 instructions for a lock and unlock, found $few/10"
	[ "$many" -le $((few * 5 / 4)) ] || fail "${setting:-all recorded}: expected at most $((few * 5 / 4))/10 instructions with 250000 mutexes, found $many/10"
done

need python3
objects=200000
printf '[sync]\nmode = all\n' >gprof-mt.conf
LD_PRELOAD=$libsync fresh ./many_mutexes $objects $objects >/dev/null || fail "many_mutexes"
capture=$(du -sb gprof-mt.data | cut -f 1)
peak=$(peak report report locks)
echo "a capture of $capture bytes with $objects mutexes is read in $peak bytes"
[ "$peak" -le $((16 * capture)) ] || fail "expected at most 16 times the $capture bytes of the capture, found $peak bytes"
more=$(sed -n 's/^ *\.\.\. and \([0-9]*\) more.*/\1/p' report)
rows=$(grep -c ' mutex  ' report)
[ $((more + rows)) = $objects ] || fail "expected $objects mutexes in the report, found $rows and $more more"
peak=$(peak report.json report --format json locks)
echo "as JSON in $peak bytes"
[ "$peak" -le $((48 * capture)) ] || fail "JSON: expected at most 48 times the $capture bytes of the capture, found $peak bytes"
found=$(grep -c '^   "type" : "mutex"' report.json)
[ "$found" = $objects ] || fail "JSON: expected $objects mutexes, found $found"
