#!/bin/bash
# SPDX-License-Identifier: MIT
# Functions of another library between the program and libc, unversioned like those of a sanitizer, are called
# exactly as without libsync_trace.
. "$GM_TOP/tests/sync/common.sh"

$CC -std=gnu17 -DLIBRARY -g -O1 -fPIC -shared -o libbetween.so \
	"$programs/interposer.c" || fail "cannot compile"
build interposer -DWITH_LIBRARY -L. -lbetween -Wl,-rpath,"$PWD"
./interposer >bare
[ $? -eq 5 ] || fail "the program fails without the library"
for preload in "$libsync" "$libsync $PWD/libbetween.so" "$PWD/libbetween.so $libsync"; do
	rm -rf gprof-mt.data
	LD_PRELOAD=$preload ./interposer >out 2>err
	status=$?
	[ $status -eq 5 ] || fail "status $status with $preload"
	diff bare out || fail "the interposer's calls changed with $preload"
	events >events
	no_complaint
	expect 5 ' thread_create '
	expect 5 ' thread_join result=0 '
	# <threads.h> functions are recorded only if that library would not be called for them.
	locks=4000
	[[ $preload != *"/libbetween.so $libsync" ]] || locks=4001
	expect $locks ' mutex_lock result=0 '
	expect 3 ' sem_wait result=0 '
	expect 1 ' rwlock_rdlock result=0 '
	expect 1 ' rwlock_wrlock result=0 '
	expect 1 ' spin_lock result=0 '
	# Uncontended locks have no wait.
	expect 0 '_(rdlock|wrlock|spin_lock|mutex_timedlock)_begin '
done

# ThreadSanitizer crashes in a thread whose creation it did not see.
(build interposer -fsanitize=thread) >cannot 2>&1 ||
	{ cat cannot; echo "ThreadSanitizer is not installed"; exit 77; }
./interposer >bare 2>&1
[ $? -eq 5 ] || { cat bare; echo "ThreadSanitizer does not run here"; exit 77; }
rm -rf gprof-mt.data
traced ./interposer >out 2>&1
status=$?
[ $status -eq 5 ] || { cat out; fail "status $status under ThreadSanitizer"; }
diff bare out || fail "the output under ThreadSanitizer changed"
