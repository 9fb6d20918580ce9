#!/bin/bash
# SPDX-License-Identifier: MIT
# Locks of constructors, destructors, an allocator that locks, handlers of fork() and exit().
. "$GM_TOP/tests/sync/common.sh"

$CC -std=gnu17 -g -O1 -fno-builtin -fPIC -shared -o libearly.so "$programs/early.c" ||
	fail "cannot compile"
build startup -L. -learly -Wl,-rpath,"$PWD"
./startup >bare.out 2>bare.err
[ $? -eq 5 ] || fail "the program itself fails"

# The library after and before the other in the order of construction.
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
	n_early=$((n_early + 1)) # the handler of exit() comes after the word
	# All but what an allocator was asked for inside the preparations themselves.
	expect "$n_early" " mutex_lock result=0 .*$early\$"
	expect "$n_early" " mutex_unlock result=0 .*$early\$"
	seen=$(grep -c " mutex_lock result=0 .*$heap\$" events)
	[ "$seen" -le "$n_heap" ] && [ "$seen" -ge $((n_heap - 20)) ] ||
		fail "$seen of $n_heap locks of the allocator were seen"
	[ "$seen" -eq "$(grep -c " mutex_unlock result=0 .*$heap\$" events)" ] ||
		fail "the allocator's locks and unlocks do not match"
	echo "allocator: $seen of $n_heap seen"
done
