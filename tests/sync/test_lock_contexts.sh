#!/bin/bash
# SPDX-License-Identifier: MIT
# Locks in constructors, destructors, handlers and under the loader's locks: the program's output is the same
# in every mode, and each lock is recorded.
. "$GM_TOP/tests/sync/common.sh"

build lock_contexts -rdynamic
g++ -std=c++17 -O1 -g -fPIC -shared -pthread -DPLUGIN -o libplugin.so "$programs/lock_contexts.cc" ||
	fail "cannot compile the plugin"
./lock_contexts >without 2>err
[ $? -eq 8 ] && [ "$(wc -l <without)" -gt 20 ] || { cat without err; fail "the program fails without the library"; }

for configuration in 'mode = off' 'mode = contended' 'sink = lttng' 'paths = 1ns' 'mode = all'; do
	printf '[sync]\n%s\n' "$configuration" >config
	GPROF_MT_CONFIG=config traced ./lock_contexts >with 2>err
	[ $? -eq 8 ] || { cat with err; fail "the exit status changes with $configuration"; }
	diff without with || fail "the output changes with $configuration"
	[ ! -s err ] || fail "with $configuration: $(cat err)"
done
events >events
no_complaint
# Except in the last round of thread-specific data, which follows the thread's last event.
passed=$(wc -l <without)
seen=$(grep ' mutex_lock result=0 ' events | grep -o 'object=.*' | sort | uniq -c | sort -n | tail -n 1 |
	awk '{ print $1 }')
[ "$seen" -ge $((passed - 2)) ] && [ "$seen" -le "$passed" ] ||
	fail "expected $passed locks, got $seen"
