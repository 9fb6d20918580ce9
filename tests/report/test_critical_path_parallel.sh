#!/bin/bash
# SPDX-License-Identifier: MIT
# The critical path of a long history of calls, which all CPUs read at the same time: what comes when one
# reads it in order of time, as `activity` wants it, and what comes from one CPU.
. "$GM_TOP/tests/calls/common.sh"
need jq

# path [OPTION...] SECTION...: the tables of the critical path
path() { "$gprof_mt" report --format json "$@" | jq 'with_entries(select(.key | startswith("critical")))'; }

# same WHAT: of the capture here
same()
{
	local option cpu
	cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
	for option in --no-cache --time=1ms~; do
		path $option critical-path >apart || fail "$1: exit status $?"
		path $option critical-path activity >ordered || fail "$1, in order: exit status $?"
		taskset -c "$cpu" "$gprof_mt" report --format json $option critical-path >one.json || fail "$1, one CPU"
		jq 'with_entries(select(.key | startswith("critical")))' one.json >one
		cmp apart ordered || fail "$1, $option: not as in order of time"
		cmp apart one || fail "$1, $option: from one CPU another path"
		jq -e '.critical_functions | length > 2' apart >/dev/null || fail "$1: $(cat apart)"
	done
}

configure
build_from bushy bushy.c -pg -mfentry -minstrument-return=call
fresh ./bushy 3 15 || fail "exit status $?"
same "calls alone"
for source in auto none; do
	fresh "$gprof_mt" record -q --set calls.mode=history --set kernel.source=$source -- ./bushy 3 15 || fail "record"
	same "kernel.source=$source"
done
exit 0
