#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that ask for glibc's functions by version, new and old, get ours.
. "$GM_TOP/tests/runtime/test_sync_programs/common.sh"

# nm writes a version behind the name, and there must be none.
exported=$(nm -D --defined-only "$LIBRARY" | awk '{ print $3 }' | sort)
listed=$(sed -n 's/^\t\t\([A-Za-z_]*\);$/\1/p' "$GM_TOP/libsync-trace/libsync-trace.map" | sort)
[ "$exported" = "$listed" ] || fail "exported are other names than the map lists"

for version in 2.3.2 2.2.5; do
	flag=$([ $version = 2.2.5 ] && echo -DOLD || echo -DNEW)
	build versions "$flag"
	objdump -T versions | grep -q "(GLIBC_$version).*pthread_cond_wait" ||
		{ echo "this linker made no reference to pthread_cond_wait@GLIBC_$version"; exit 77; }
	timeout 20 ./versions >without || fail "the program itself fails ($version)"
	rm -rf gprof-mt.data
	traced ./versions >with || fail "the program fails when traced ($version)"
	cmp without with || fail "it says something else when traced ($version)"
	events >events
	no_complaint
	expect 100 ' cond_signal '
	expect 100 ' cond_broadcast '
	expect "$(grep -c ' cond_wait_begin ' events)" ' cond_wait result=0 '
	expect 1 ' cond_timedwait result=110 '
	expect 1 ' mutex_trylock '
	expect 1 ' thread_create '
	expect 1 ' cond_init '
	expect 1 ' cond_destroy '
done
