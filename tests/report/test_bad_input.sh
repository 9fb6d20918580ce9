#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs without -pg, full and read-only disks, captures that are truncated, damaged, or of a newer schema:
# one clear line, the right exit status, no crash, and no effect on the profiled program.
# (record/test_bad_input.sh checks the command line of `record`.)
. "$GM_TOP/tests/lib.sh"
program=$GM_BUILD/examples/philosophers
plain=$GM_BUILD/examples/plain/philosophers

# one_line REGEX FILE: FILE is one line that matches REGEX.
one_line()
{
	[ "$(wc -l <"$2")" = 1 ] && grep -qE "$1" "$2" || fail "expected one line with '$1': $(cat "$2")"
}

"$plain" 4 10 >expected || fail 'the example fails by itself'

"$gprof_mt" record -q -o data "$program" 4 10 >/dev/null 2>err || fail "record: $(cat err)"
calls=$("$gprof_mt" report -i data --format json callgraph | jq '[.arcs[].calls] | add')

# A program without -pg: a message tells what is missing; synchronization and scheduling are recorded.
"$gprof_mt" record -o no-pg "$plain" 4 10 >out 2>err || fail "no -pg: $(cat err)"
cmp out expected
grep -q 'was not built with -pg' err || fail "no -pg: no message: $(cat err)"
"$gprof_mt" report -i no-pg --format json sync >sync.json || fail 'no -pg: report sync'
waits=$(jq '[.sync[] | select(.function == "sem_wait") | .calls] | add' sync.json)
[ "$waits" = 80 ] || fail "no -pg: expected 80 sem_wait, got $waits"
"$gprof_mt" report -i no-pg --format json threads |
	jq -e '.threads | length == 5 and all(.running_ns > 0)' >/dev/null || fail 'no -pg: threads'

# A disk that becomes full, and a read-only disk, both in a mount namespace of their own.
if unshare --mount true 2>/dev/null; then
	unshare --mount bash -c '
		mkdir full && mount -t tmpfs -o size=64k none full && cd full || exit 99
		"$1" record -o data "$2" 4 10 >../out 2>../err
		echo $? >../status
		"$1" report -i data --format json callgraph sync quality >../report.json' \
		- "$gprof_mt" "$program" || fail "full disk: no report: $(cat err)"
	[ "$(cat status)" = 0 ] || fail "full disk: exit status $(cat status): $(cat err)"
	cmp out expected
	counted=$(jq '[.arcs[].calls] | add // 0' report.json)
	lost=$(sed -n 's/.*calls that were not counted: no room on the disk: \([0-9]*\)$/\1/p' err)
	[ "$lost" -gt 0 ] || fail "full disk: expected lost calls: $(cat err)"
	[ $((counted + lost)) = "$calls" ] || fail "full disk: $counted counted, $lost lost of $calls"

	unshare --mount bash -c '
		mkdir -p ro && mount -t tmpfs -o ro none ro && cd ro || exit 99
		"$1" 4 10 >../out 2>../err' - "$program" || fail 'read-only: the program fails'
	cmp out expected
	one_line 'gprof-mt: .*/ro/gprof-mt.data: .*read-only' err
else
	echo 'no mount namespace: the checks with full and read-only disks are skipped'
fi

# An invalid configuration of a program that runs without record: it runs unprofiled.
printf '[sync]\nmood = all\n' >wrong.conf
GPROF_MT_CONFIG=$PWD/wrong.conf "$program" 4 10 >out 2>err || fail 'wrong.conf: the program fails'
cmp out expected
one_line "wrong.conf:2: .*'mood'" err

# Directories that are no capture.
mkdir empty
for dir in nonesuch empty wrong.conf; do
	"$gprof_mt" report -i "$dir" >out 2>err && fail "report of $dir succeeds"
	one_line "gprof-mt: .*$dir" err
	[ ! -s out ] || fail "report of $dir prints: $(cat out)"
done

# A newer schema, in each of the files that have one.
threads=$(echo data/[0-9]*/threads)
newer()
{
	"$gprof_mt" report -i data >out 2>err && fail "report of a newer $1 succeeds"
	one_line "$1.*schema" err
}
cp data/session saved
sed -i '1s/1$/2/' data/session
newer session
cp saved data/session
cp "$threads" saved
printf '\2' | dd of="$threads" bs=1 seek=8 conv=notrunc status=none
newer threads
cp saved "$threads"

# Each file of the capture is emptied, cut in half, or damaged in the middle: either a report of the rest with
# a message, or one line and exit status 1; never a signal.
report_survives()
{
	local status
	timeout 60 "$gprof_mt" report -i data summary threads sync locks callgraph quality >out 2>err
	status=$?
	[ $status -le 1 ] || fail "$1: exit status $status: $(tail -n 3 err)"
	! grep -qE 'CRITICAL|Sanitizer|runtime error' err || fail "$1: $(cat err)"
	[ $status = 0 ] || [ -s err ] || fail "$1: fails without a message"
	! grep -vq '^gprof-mt: ' err && [ "$(wc -l <err)" -le 8 ] || fail "$1: $(cat err)"
	[ "$(sort err | uniq -d | wc -l)" = 0 ] || fail "$1: prints a message twice: $(cat err)"
}
report_survives 'whole capture'
[ ! -s err ] || fail "whole capture: $(cat err)"
cp out whole
find data -type f ! -name 'gmon.*' -size +0 >files
while read -r file; do
	size=$(stat -c %s "$file")
	cp "$file" saved
	: >"$file"
	report_survives "$file, emptied"
	head -c $((size / 2)) saved >"$file"
	report_survives "$file, cut in half"
	cp saved "$file"
	head -c 64 /dev/zero | tr '\0' '\377' | dd of="$file" bs=1 seek=$((size / 2)) conv=notrunc status=none
	report_survives "$file, damaged"
	cp saved "$file"
done <files
report_survives 'restored capture'
cmp out whole || fail 'the restored capture gives another report'
