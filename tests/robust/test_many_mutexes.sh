#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A pair of operations on one of 250,000 mutexes takes at most a quarter more instructions than on
# one of 1,000: where all is recorded, and where each mutex has to be looked up.  The report on 200,000
# takes at most 16 times the memory that the capture takes on the disk, as JSON 48 times (which has
# all operations by site), and has them all.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need valgrind
build many_mutexes
unset GPROF_MT_CONFIG LD_PRELOAD

# instructions OBJECTS PAIRS
instructions()
{
	LD_PRELOAD=$libsync fresh valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		./many_mutexes "$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'
}

# pair OBJECTS: instructions of a pair, times 10
pair()
{
	echo $((($(instructions "$1" 51000) - $(instructions "$1" 1000)) / 5000))
}

for setting in "" "exclude = many_mutexes"; do
	printf '[sync]\nmode = all\n%s\n' "$setting" >gprof-mt.conf
	few=$(pair 1000)
	many=$(pair 250000)
	echo "${setting:-all recorded}: $few tenths of an instruction of 1000, $many of 250000"
	[ "$few" -gt 100 ] || fail "valgrind does not count"
	[ "$many" -le $((few * 5 / 4)) ] || fail "$setting: more for many mutexes"
done

need python3
objects=200000
printf '[sync]\nmode = all\n' >gprof-mt.conf
LD_PRELOAD=$libsync fresh ./many_mutexes $objects $objects >/dev/null || fail "many_mutexes"
capture=$(du -sb gprof-mt.data | cut -f 1)
# peak FILE ARG...: the memory in bytes of gprof-mt ARG..., whose output goes to FILE
peak()
{
	python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], "w"), check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)' "$1" "$gprof_mt" "${@:2}" || fail "${*:2}"
}

peak=$(peak report report locks)
echo "a capture of $capture bytes with $objects mutexes is read in $peak bytes"
[ "$peak" -le $((16 * capture)) ] || fail "more than 16 times the capture"
more=$(sed -n 's/^ *\.\.\. and \([0-9]*\) more.*/\1/p' report)
rows=$(grep -c ' mutex  ' report)
[ $((more + rows)) = $objects ] || fail "the report tells of $rows and $more more"
peak=$(peak report.json report --format json locks)
echo "as JSON in $peak bytes"
[ "$peak" -le $((48 * capture)) ] || fail "JSON: more than 48 times the capture"
found=$(grep -c '^   "type" : "mutex"' report.json)
[ "$found" = $objects ] || fail "JSON: $found mutexes"
