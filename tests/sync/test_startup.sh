#!/bin/bash
# SPDX-License-Identifier: MIT
# Locks in constructors, destructors, an allocator that locks, and handlers of fork() and exit().
. "$GM_TOP/tests/sync/common.sh"

$CC -std=gnu17 -g -O1 -fno-builtin -fPIC -shared -o libearly.so "$programs/early.c" ||
	fail "cannot compile"
build startup -L. -learly -Wl,-rpath,"$PWD"
./startup >bare.out 2>bare.err
[ $? -eq 5 ] || fail "the program fails without the library"

# libsync_trace before and after the other library in construction order.
for preload in "$libsync" "$libsync $PWD/libearly.so" "$PWD/libearly.so $libsync"; do
	rm -rf gprof-mt.data
	LD_PRELOAD=$preload ./startup >out 2>err
	status=$?
	[ $status -eq 5 ] || { cat err; fail "status $status with $preload"; }
	read -r _ early _ heap _ pid <out
	read -r _ n_early _ n_heap <err
	events "gprof-mt.data/$pid/user" >events
	no_complaint
	early="object=0x$(printf %X "$early")" heap="object=0x$(printf %X "$heap")"
	n_early=$((n_early + 1)) # the exit handler runs after the line is printed
	# Except allocations within the library's own initialization.
	expect "$n_early" " mutex_lock result=0 .*$early\$"
	expect "$n_early" " mutex_unlock result=0 .*$early\$"
	seen=$(grep -c " mutex_lock result=0 .*$heap\$" events)
	[ "$seen" -le "$n_heap" ] && [ "$seen" -ge $((n_heap - 20)) ] ||
		fail "expected $n_heap locks (up to 20 fewer) of the allocator, got $seen"
	[ "$seen" -eq "$(grep -c " mutex_unlock result=0 .*$heap\$" events)" ] ||
		fail "the allocator has more locks than unlocks, or fewer"
	echo "allocator: $seen of $n_heap seen"
done
