#!/bin/bash
# SPDX-License-Identifier: MIT
# Locks in constructors, destructors, handlers and under the loader's own locks: the same happens,
# in the same order, whatever is recorded, and each lock is seen.
. "$GM_TOP/tests/sync/common.sh"

build places -rdynamic
g++ -std=c++17 -O1 -g -fPIC -shared -pthread -DPLUGIN -o libplugin.so "$programs/places.cc" ||
	fail "cannot compile the plugin"
./places >without 2>err
[ $? -eq 8 ] && [ "$(wc -l <without)" -gt 20 ] || { cat without err; fail "the program itself fails"; }

for configuration in 'mode = off' 'mode = contended' 'sink = lttng' 'paths = 1ns' 'mode = all'; do
	printf '[sync]\n%s\n' "$configuration" >config
	GPROF_MT_CONFIG=config traced ./places >with 2>err
	[ $? -eq 8 ] || { cat with err; fail "it ends otherwise with $configuration"; }
	diff without with || fail "it does something else with $configuration"
	[ ! -s err ] || fail "with $configuration: $(cat err)"
done
events >events
no_complaint
# But for thread-specific data in its last round, which comes after the thread's last event.
passed=$(wc -l <without)
seen=$(grep ' mutex_lock result=0 ' events | grep -o 'object=.*' | sort | uniq -c | sort -n | tail -n 1 |
	awk '{ print $1 }')
[ "$seen" -ge $((passed - 2)) ] && [ "$seen" -le "$passed" ] ||
	fail "$seen of $passed locks were seen"
