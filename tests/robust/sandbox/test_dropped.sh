#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program that changes its user, root, mounts or Landlock rules after its start can no longer reach the
# capture.  It runs as bare, and `record` makes the files of its later threads and children, and of a
# program that it executes, so that nothing is lost.  If `record` is out of reach, too, or does not answer,
# each event and each child that is not recorded is reported.  `record` refuses all other requests, and
# counts them.
. "$GM_TOP/tests/lib.sh"

[ "$(id -u)" = 0 ] || skip "not root"
threads=40 children=40
build robust/drop
build_pg robust/drop -o drop.pg

# quality CAPTURE PATTERN: prints the sum of the counts of the rows that match
quality()
{
	"$gprof_mt" report -i "$1" --format json quality |
		python3 -c 'import json, re, sys
rows = json.load(sys.stdin)["quality"]
print(sum(row["count"] for row in rows if re.match(sys.argv[1], row["what"])))' "$2"
}

# runs HOW PROGRAM [ARGUMENT...]: the program has the same stdout, stderr and status under record as bare
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
	cmp -s bare.out out.txt || fail "$how $program: stdout differs from the bare program's"
	grep -vE '^gprof-mt: ((\./)?gmon\.out: |no (call graph|counts of calls, a profile from samples):|lost: |waited |idle |finding: |capture/data: |next: )' err.txt | cmp -s - bare.err ||
		fail "$how $program: stderr differs from the bare program's: $(cat err.txt)"
	[ ! -e copied ] || diff copied <(find "root$PWD" -exec cksum {} + 2>/dev/null | sort) ||
		fail "$how $program: wrote to a copy of the capture in the new root"
	unwritten=$(quality capture/data 'process not recorded') lost=$(quality capture/data 'synch-events not written')
}

# calls CAPTURE: prints the number of calls of `work`
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
	locks=$(python3 "$GM_TOP/tests/robust/programs/locks.py" capture/data) || fail "$how: a stream cannot be read"
	echo "$program $how: locks: $locks of $((10 + 7 * (threads + children)))"
	[ "$unwritten$lost" = 00 ] || fail "$how: expected no loss: $("$gprof_mt" report -i capture/data quality)"
	[ "$(quality capture/data .)" = 0 ] || fail "$how: expected an empty section quality: $("$gprof_mt" report -i capture/data quality)"
	[ "$locks" -eq $((10 + 7 * (threads + children))) ] || fail "$how: expected $((10 + 7 * (threads + children))) locks, found $locks"
	left=$(find capture ! -user 0 -o -name '.*')
	[ -z "$left" ] || fail "$how: files of another user, or temporary files: $left"
	[ "$program" = drop.pg ] || return 0
	n_calls=$(calls capture/data)
	[ "$n_calls" -eq $((1 + threads + children)) ] || fail "$how: expected $((1 + threads + children)) calls, found $n_calls"
}

# counted HOW PROGRAM: each loss is reported
counted()
{
	local how=$1 program=$2 unwritten lost
	runs "$how" "$program" || return 0
	echo "$program $how: children not recorded: $unwritten of $children, events not written: $lost"
	[ "$unwritten" -eq $children ] || fail "$how: expected $children children reported as not recorded, found $unwritten"
	grep -q "and $children not recorded, " err.txt || fail "$how: expected 'and $children not recorded' in the last line: $(cat err.txt)"
	[ "$lost" -gt 0 ] || fail "$how: expected lost events in section quality, found none"
}

# hostile: a process of the recording (member) and another (outsider) send requests that must be refused
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
	python3 "$programs/hostile.py" "$PWD/capture/data" outsider >outsider.txt || fail "a process outside the run: $(cat outsider.txt)"
	[ "$before" = "$(cd capture/data && find . | sort)" ] || fail "a process outside the run made a file"
	echo >go
	wait $! || fail "a process of the run: $(cat member.txt err.txt)"
	n=$(($(cat member.txt) + $(cat outsider.txt)))
	refused=$(quality capture/data 'requests to record from processes outside this recording, refused')
	echo "hostile requests refused: $refused of $n"
	[ "$refused" -eq "$n" ] || fail "hostile: expected $n refused requests, found $refused"
	# The row that the member requested by WORD.
	[ "$(quality capture/data 'process not recorded')" = 1 ] || fail "hostile: expected one row 'process not recorded'"
	[ -z "$(find . -name planted)" ] || fail "hostile: record made a file 'planted'"
	rm -rf capture
	mkdir capture
	"$gprof_mt" record -q -o capture/data --set kernel.source=none --set output.max=1M -- \
		python3 "$programs/hostile.py" "$PWD/capture/data" greedy >greedy.txt 2>err.txt ||
		fail "a process that requests too many files: $(cat greedy.txt err.txt)"
	echo "files given to a greedy member beyond output.max: $(cat greedy.txt)"
}

# executes HOW: nothing is lost of an executed program and its children either.  Not for another root, where
# the libraries do not exist.
executes()
{
	local how=$1 unwritten lost locks expected=$((10 + 10 + 7 * (threads + children)))
	runs "$how" drop "$reachable/drop" || return 0
	locks=$(python3 "$GM_TOP/tests/robust/programs/locks.py" capture/data) || fail "$how: a stream cannot be read"
	echo "drop $how, then exec: locks: $locks of $expected"
	[ "$(quality capture/data .)" = 0 ] || fail "$how, exec: expected an empty section quality: $("$gprof_mt" report -i capture/data quality)"
	[ "$locks" -eq $expected ] || fail "$how, exec: expected $expected locks, found $locks"
}

for how in none user setuid chroot copied mount landlock; do
	kept $how drop
	kept $how drop.pg
done
kept pid drop
for how in net stopped; do
	counted $how drop
done
# A directory in which another user may execute the program.
reachable=$(mktemp -d) || fail "no temporary directory"
trap 'rm -rf "$reachable"' EXIT
chmod 755 "$reachable" && cp drop "$reachable"
for how in none setuid mount landlock; do
	executes $how
done
hostile
