#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that preload an allocator, before or after libsync_trace, behave the same, and the locks of the
# allocator are recorded like all others.
. "$GM_TOP/tests/sync/common.sh"

build allocators
for mode in all contended; do
	printf '[sync]\nmode = %s\n' $mode >$mode.conf
done
printf '[sync]\nsink = lttng\n' >lttng.conf

# found NAME: prints the path of a library
found()
{
	local file
	for file in {/usr/lib,/lib}/*-linux-gnu/"$1" {/usr/lib64,/usr/lib}/"$1"; do
		[ ! -e "$file" ] || { echo "$file"; return; }
	done
}

# run CONFIGURATION PRELOAD
run()
{
	rm -rf gprof-mt.data
	GPROF_MT_CONFIG=$1.conf LD_PRELOAD=$2 ./allocators >out 2>err
	[ $? -eq 6 ] || { cat out err; fail "$1: the exit status changes with $2"; }
	diff bare out || fail "$1: the output changes with $2"
	[ "$(wc -l <err)" -eq 1 ] || { cat err; fail "$1: expected one line on stderr with $2"; }
}

# balanced OWN: all other mutexes have as many locks as unlocks; prints the number
balanced()
{
	awk -v own="$1" '$6 != own && $4 == "result=0" {
		if ($3 ~ /^mutex_(lock|trylock)$/) { locks[$6]++; n++ }
		if ($3 == "mutex_unlock") locks[$6]--
	} END {
		for (object in locks)
			if (locks[object] != 0) { print object, locks[object]; wrong = 1 }
		print n + 0, "locks of the allocator"
		exit wrong
	}' events
}

tried=
for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
	path=$(found $allocator)
	[ -n "$path" ] || { echo "$allocator is not installed"; continue; }
	LD_PRELOAD=$path ./allocators >bare 2>err
	[ $? -eq 6 ] || { cat err; fail "the program itself fails with $allocator"; }
	for preload in "$libsync $path" "$path $libsync"; do
		for configuration in contended lttng all; do
			run $configuration "$preload"
		done
		read -r _ pid _ object <err
		events "gprof-mt.data/$pid/user" >events
		no_complaint
		own="object=0x$(tr a-f A-F <<<"${object#0x}")"
		expect 20 " mutex_lock result=0 .*$own\$"
		expect 20 " mutex_unlock result=0 .*$own\$"
		balanced "$own" || fail "locks and unlocks of $allocator do not match"
	done
	tried+=" $allocator"
done
[ -n "$tried" ] || skip "neither jemalloc nor tcmalloc is installed"
