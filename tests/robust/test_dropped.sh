#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program that changes its user, its root, its mounts or what Landlock lets it do after the start can
# no longer reach the capture: it goes on as it does bare, and each event and each child that is not
# recorded is reported; so is a program that it executes then.
. "$GM_TOP/tests/robust/common.sh"

[ "$(id -u)" = 0 ] || { echo "not root"; exit 77; }
threads=40 children=40
mkdir root
build drop
build_pg drop -o drop.pg

# quality CAPTURE PATTERN: the sum of the counts of its rows
quality()
{
	"$gprof_mt" report -i "$1" --format json quality |
		python3 -c 'import json, re, sys
rows = json.load(sys.stdin)["quality"]
print(sum(row["count"] for row in rows if re.match(sys.argv[1], row["what"])))' "$2"
}

# runs HOW PROGRAM [ARGUMENT...]: under record, with the output, error output and status that it has bare
runs()
{
	local how=$1 program=$2
	shift 2
	rm -rf capture
	mkdir capture
	./drop "$how" $threads $children "$@" >bare.out 2>bare.err
	[ $? -eq 5 ] || { echo "$how does not work here"; return 1; }
	"$gprof_mt" record -o capture/data --set kernel.source=none -- \
		"./$program" "$how" $threads $children "$@" >out.txt 2>err.txt
	[ $? -eq 5 ] || fail "$how $program: $(cat err.txt)"
	cmp -s bare.out out.txt || fail "$how $program: another output"
	grep -vE '^gprof-mt: (\./gmon\.out: cannot write|no call graph:|lost: |waited |capture/data: |next: )' err.txt | cmp -s - bare.err ||
		fail "$how $program: another error output: $(cat err.txt)"
	unwritten=$(quality capture/data 'process not recorded') lost=$(quality capture/data 'synch-events not written')
}

# check HOW PROGRAM
check()
{
	local how=$1 program=$2 unwritten lost
	runs "$how" "$program" || return 0
	echo "$program $how: children not recorded: $unwritten of $children, events not written: $lost"
	case $how in
	none | user)
		[ "$unwritten$lost" = 00 ] || fail "$how: something is said to be lost"
		return
		;;
	esac
	[ "$unwritten" -eq $children ] || fail "$how: $unwritten children of $children"
	grep -q "and $children not recorded, " err.txt || fail "$how: last line: $(cat err.txt)"
	[ "$lost" -gt 0 ] || fail "$how: no event is said to be lost"
}

# executes HOW: the program that is executed and its children; in another root it must find our
# libraries, which are not there, so it does not say so itself.
executes()
{
	local how=$1 unwritten lost expected=$((children + 1))
	runs "$how" drop "$reachable/drop" || return 0
	echo "drop $how, then exec: not recorded: $unwritten of $expected"
	[ "$how" != none ] || expected=0
	[ "$unwritten" -eq $expected ] || fail "$how, exec: $unwritten of $expected: $(cat err.txt)"
	[ $expected = 0 ] || grep -q "and $expected not recorded, " err.txt || fail "$how, exec: last line: $(cat err.txt)"
}

for how in none user setuid chroot mount landlock; do
	check $how drop
done
for how in none setuid chroot; do
	check $how drop.pg
done
# Where another user may execute it.
reachable=$(mktemp -d) || fail "no temporary directory"
trap 'rm -rf "$reachable"' EXIT
chmod 755 "$reachable" && cp drop "$reachable"
for how in none setuid mount landlock; do
	executes $how
done
