#!/bin/bash
# SPDX-License-Identifier: MIT
# The critical path of a long history of calls, which all CPUs read in parallel, equals the path that is read
# in time order, as `activity` requires, and the path read by one CPU.
. "$GM_TOP/tests/calls/common.sh"
need jq

# path [OPTION...] SECTION...: prints the tables of the critical path
path() { "$gprof_mt" report --format json "$@" | jq 'with_entries(select(.key | startswith("critical")))'; }

# same NAME: checks the capture in this directory
same()
{
	local option cpu
	cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
	for option in --no-cache --time=1ms~; do
		path $option critical-path >apart || fail "$1: exit status $?"
		path $option critical-path activity >ordered || fail "$1, in order: exit status $?"
		taskset -c "$cpu" "$gprof_mt" report --format json $option critical-path >one.json || fail "$1, one CPU"
		jq 'with_entries(select(.key | startswith("critical")))' one.json >one
		cmp apart ordered || fail "$1, $option: the path read in time order differs"
		cmp apart one || fail "$1, $option: the path read by one CPU differs"
		jq -e '.critical_functions | length > 2' apart >/dev/null || fail "$1: $(cat apart)"
	done
}

configure
build_from many_stacks many_stacks.c -pg -mfentry -minstrument-return=call
fresh ./many_stacks 3 15 || fail "exit status $?"
same "calls alone"
for source in auto none; do
	fresh "$gprof_mt" record -q --set calls.mode=history --set kernel.source=$source -- ./many_stacks 3 15 || fail "record"
	same "kernel.source=$source"
done
exit 0
