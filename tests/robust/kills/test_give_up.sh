#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread is stopped while it holds a lock that moncontrol(), the end of another thread or the end of the process
# needs.  The waiting thread gives up.  No call is lost, and `record` and `quality` name each step that was left out.
. "$GM_TOP/tests/lib.sh"

build_pg give_up
stopped='another thread was stopped for seconds while it used shared data'

# quality_of: prints "COUNT WHAT" of the steps that were left out, and the calls that were lost
quality_of()
{
	"$gprof_mt" report --format json quality >quality.json || fail "$what: report quality"
	python3 - <<-'PY' | sort
	import collections, json
	text, rows = open("quality.json").read().lstrip(), collections.Counter()
	while text:
	    tables, end = json.JSONDecoder().raw_decode(text)
	    for row in tables.get("quality", []):
	        if not row["what"].startswith("samples not taken"):
	            rows[row["what"]] += row["count"]
	    text = text[end:].lstrip()
	for what, count in rows.items():
	    print(count, what)
	PY
}

# check_calls: each call of before() is counted; after moncontrol(0), after() is not
check_calls()
{
	"$gprof_mt" report --format json flat >flat.json || fail "$what: report flat"
	python3 - <<-'PY' >calls || fail "$what: report flat"
	import json
	rows = json.load(open("flat.json"))["functions"]
	for name in "before", "after":
	    print(name, sum(row["calls"] or 0 for row in rows if row["name"] == name))
	PY
	same "$what: calls" "$(cat out)" "$(cat calls)"
}

# ends: prints, for each thread in the thread table, whether the time of its end is known: 1 or 0
ends()
{
	python3 - <<-'PY'
	import glob, struct
	data = open(glob.glob("gprof-mt.data/*/threads")[0], "rb").read()
	header, slot, n = struct.unpack_from("<3I", data, 12)
	print(*(int(struct.unpack_from("<Q", data, header + i * slot + 24)[0] > 0) for i in range(n)))
	PY
}

# check MODE STDERR ROW...: the program's stderr has a line with STDERR ('': it is empty), and `quality` has the rows
check()
{
	what=$1
	fresh timeout 60 ./give_up "$1" >out 2>err
	status=$?
	[ $status != 77 ] || skip "no seccomp filter"
	same "$what: exit status" 0 $status
	if [ -z "$2" ]; then
		[ ! -s err ] || fail "$what: expected an empty stderr, found: $(cat err)"
	else
		same "$what: lines on stderr" 1 "$(wc -l <err)"
		grep -q "$2" err || fail "$what: expected '$2' on stderr, found: $(cat err)"
	fi
	same "$what: steps left out" "$(for row in "${@:3}"; do echo "$row: $stopped"; done)" "$(quality_of)"
	check_calls
}

no_moncontrol='moncontrol() had no effect on other threads'
no_last_samples='the last missed samples of a thread are not counted'
no_gmon='gmon files not written; gprof-mt export --format gmon makes them from the capture'
no_map='an object was loaded or unloaded unnoticed, so some addresses may have no name or that of another object'

check pause '' "1 $no_moncontrol"
check exit 'the gmon files are not written, because a thread was stopped' "1 $no_gmon" "2 $no_last_samples"
check leave 'the gmon files are not written, because a thread was stopped' "1 $no_gmon"
"$gprof_mt" export --format gmon -o made >/dev/null || fail "export --format gmon"
[ -s made ] || fail "expected a gmon file of all threads"
check locked '' "1 $no_last_samples"
check load '' "1 $no_map"
check unload '' "1 $no_map"
# The end of a thread takes no other step that needs the lock.
check end ''
same "end: the end of the thread is known" 1 "$(ends | cut -d ' ' -f 1)"

# record_names MODE ROW...: `record` names each step, and does not call the recording complete.  Samples and blocking
# calls look for objects too, in vain while the lock is held: a step may be left out more often than the row says.
record_names()
{
	local row found
	what="record $1"
	fresh timeout 60 "$gprof_mt" record --set kernel.source=none -- ./give_up "$1" >out 2>err ||
		fail "$what: exit status $?: $(cat err)"
	for row in "${@:2}"; do
		found=$(sed -n "s/.*lost: runtime libraries: ${row#* }: $stopped: //p" err)
		[ "${found:-0}" -ge "${row%% *}" ] || fail "$what: expected '$row' on stderr, found: $(cat err)"
	done
	grep -q 'gprof-mt.data: 1 process' err || fail "$what: expected the last line of record, found: $(cat err)"
	! grep -q 'gprof-mt.data: 1 process.*; complete' err || fail "$what: expected no 'complete', found: $(cat err)"
}
record_names pause "1 $no_moncontrol"
record_names unload "1 $no_map"
record_names exit "1 $no_gmon" "2 $no_last_samples"
exit 0
