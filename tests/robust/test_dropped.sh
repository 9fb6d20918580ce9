#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program that changes its user, its root, its mounts or what Landlock lets it do after the start can
# no longer reach the capture: it goes on as it does bare, and `record` makes the files for its later
# threads and children, and for a program that it executes, so that nothing is lost.  Where `record` is
# out of reach, too, or does not answer, each event and each child that is not recorded is reported.
# `record` does nothing else for anybody, and counts what it refuses.
. "$GM_TOP/tests/lib.sh"

[ "$(id -u)" = 0 ] || skip "not root"
threads=40 children=40
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
	rm -rf capture root copied
	mkdir capture root
	./drop "$how" $threads $children "$@" >bare.out 2>bare.err
	[ $? -eq 5 ] || { echo "$how does not work here"; return 1; }
	rm -rf root
	mkdir root
	"$gprof_mt" record -o capture/data --set kernel.source=none --set sync.mode=all -- \
		"./$program" "$how" $threads $children "$@" >out.txt 2>err.txt
	[ $? -eq 5 ] || fail "$how $program: $(cat err.txt)"
	cmp -s bare.out out.txt || fail "$how $program: another output"
	grep -vE '^gprof-mt: (\./gmon\.out: cannot write|no call graph:|lost: |waited |capture/data: |next: )' err.txt | cmp -s - bare.err ||
		fail "$how $program: another error output: $(cat err.txt)"
	[ ! -e copied ] || diff copied <(find "root$PWD" -exec cksum {} + 2>/dev/null | sort) ||
		fail "$how $program: wrote to a copy of the capture in the new root"
	unwritten=$(quality capture/data 'process not recorded') lost=$(quality capture/data 'synch-events not written')
}

# calls CAPTURE: how many calls of `work` it has
calls()
{
	"$gprof_mt" report -i "$1" --format json flat | python3 -c 'import json, sys
text, n = sys.stdin.read().lstrip(), 0
while text:
    table, end = json.JSONDecoder().raw_decode(text)
    text = text[end:].lstrip()
    n += sum(f["calls"] for f in table.get("functions", []) if f["name"] == "work")
print(n)'
}

# kept HOW PROGRAM: nothing is lost
kept()
{
	local how=$1 program=$2 unwritten lost locks n_calls left
	runs "$how" "$program" || return 0
	locks=$(python3 "$programs/locks.py" capture/data) || fail "$how: a stream cannot be read"
	echo "$program $how: locks: $locks of $((10 + 7 * (threads + children)))"
	[ "$unwritten$lost" = 00 ] || fail "$how: lost: $("$gprof_mt" report -i capture/data quality)"
	[ "$(quality capture/data .)" = 0 ] || fail "$how: $("$gprof_mt" report -i capture/data quality)"
	[ "$locks" -eq $((10 + 7 * (threads + children))) ] || fail "$how: $locks locks"
	left=$(find capture ! -user 0 -o -name '.*')
	[ -z "$left" ] || fail "$how: another user's, or left: $left"
	[ "$program" = drop.pg ] || return 0
	n_calls=$(calls capture/data)
	[ "$n_calls" -eq $((1 + threads + children)) ] || fail "$how: $n_calls calls"
}

# counted HOW PROGRAM: what is lost is said
counted()
{
	local how=$1 program=$2 unwritten lost
	runs "$how" "$program" || return 0
	echo "$program $how: children not recorded: $unwritten of $children, events not written: $lost"
	[ "$unwritten" -eq $children ] || fail "$how: $unwritten children of $children"
	grep -q "and $children not recorded, " err.txt || fail "$how: last line: $(cat err.txt)"
	[ "$lost" -gt 0 ] || fail "$how: no event is said to be lost"
}

# hostile: a process of the recording, and one that is none, ask for what they may not have
hostile()
{
	local refused n before
	mkfifo ready go
	rm -rf capture
	mkdir capture
	"$gprof_mt" record -q -o capture/data --set kernel.source=none -- sh -c \
		"./drop none 1 1; exec python3 $programs/hostile.py $PWD/capture/data member ready go" >member.txt 2>err.txt &
	read -r _ <ready
	before=$(cd capture/data && find . | sort)
	python3 "$programs/hostile.py" "$PWD/capture/data" outsider >outsider.txt || fail "an outsider: $(cat outsider.txt)"
	[ "$before" = "$(cd capture/data && find . | sort)" ] || fail "an outsider made a file"
	echo >go
	wait $! || fail "a member: $(cat member.txt err.txt)"
	n=$(($(cat member.txt) + $(cat outsider.txt)))
	refused=$(quality capture/data 'requests to record, refused')
	echo "hostile requests refused: $refused of $n"
	[ "$refused" -eq "$n" ] || fail "hostile: $refused of $n refused"
	# The member says that it is not recorded.
	[ "$(quality capture/data 'process not recorded')" = 1 ] || fail "hostile: a false row"
	[ -z "$(find . -name planted)" ] || fail "hostile: a file is planted"
	rm -rf capture
	mkdir capture
	"$gprof_mt" record -q -o capture/data --set kernel.source=none --set output.max=1M -- \
		python3 "$programs/hostile.py" "$PWD/capture/data" greedy >greedy.txt 2>err.txt ||
		fail "a greedy member: $(cat greedy.txt err.txt)"
	echo "files given to a greedy member beyond output.max: $(cat greedy.txt)"
}

# executes HOW: so is the program that is executed, and its children; in another root it must find our
# libraries, which are not there.
executes()
{
	local how=$1 unwritten lost locks expected=$((10 + 10 + 7 * (threads + children)))
	runs "$how" drop "$reachable/drop" || return 0
	locks=$(python3 "$programs/locks.py" capture/data) || fail "$how: a stream cannot be read"
	echo "drop $how, then exec: locks: $locks of $expected"
	[ "$(quality capture/data .)" = 0 ] || fail "$how, exec: $("$gprof_mt" report -i capture/data quality)"
	[ "$locks" -eq $expected ] || fail "$how, exec: $locks locks"
}

for how in none user setuid chroot copied mount landlock; do
	kept $how drop
	kept $how drop.pg
done
kept pid drop
for how in net stopped; do
	counted $how drop
done
# Where another user may execute it.
reachable=$(mktemp -d) || fail "no temporary directory"
trap 'rm -rf "$reachable"' EXIT
chmod 755 "$reachable" && cp drop "$reachable"
for how in none setuid mount landlock; do
	executes $how
done
hostile
