#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of a history of calls, with few stacks and with more than it shows: no call and no time is lost.
. "$GM_TOP/tests/export/html.sh"
needs_page

build_from wide ../../export/programs/html/wide.c -pg -mfentry -minstrument-return=call
for rounds in 100 20000; do
	record --set calls.mode=history --set kernel.source=none ./wide $rounds
	page 0 page
	time_ns=$("$gprof_mt" export --format folded --what time -o - | awk '{ sum += $NF } END { printf "%.0f", sum }')
	# The run of each thread, and main.
	shows page "[sum(f['value']) for f in doc['flames'] if f['kind'] in ('calls', 'time')] == [4 * 15 * $rounds + 5, $time_ns]"
	few=$([ $rounds -lt 1000 ] && echo not || :)
	shows page "$few 'of threads are added to their callers' in missing"
done

# Threads that only the kernel sees join while the events are read, after the survey of the histories.
echo 'int main(void) { return 0; }' >static.c
"$CC" -static -o static static.c || fail "cannot compile static.c"
build_from forks ../../export/programs/html/forks.c -pg -mfentry -minstrument-return=call
record --set calls.mode=history ./forks ./static
page 0 page
shows page "sum(sum(f['value']) for f in doc['flames'] if f['kind'] == 'calls') == 9"
exit 0
