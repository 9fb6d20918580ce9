#!/bin/bash
# SPDX-License-Identifier: MIT
# Another library's functions between the program's and libc's, without a version as a sanitizer's
# are, see all that they would see without us.
. "$GM_TOP/tests/sync/common.sh"

$CC -std=gnu17 -DLIBRARY -g -O1 -fPIC -shared -o libbetween.so \
	"$programs/interposer.c" || fail "cannot compile"
build interposer -DWITH_LIBRARY -L. -lbetween -Wl,-rpath,"$PWD"
./interposer >bare
[ $? -eq 5 ] || fail "the program itself fails"
for preload in "$libsync" "$libsync $PWD/libbetween.so" "$PWD/libbetween.so $libsync"; do
	rm -rf gprof-mt.data
	LD_PRELOAD=$preload ./interposer >out 2>err
	status=$?
	[ $status -eq 5 ] || fail "status $status with $preload"
	diff bare out || fail "what it saw has changed with $preload"
	events >events
	no_complaint
	expect 5 ' thread_create '
	expect 5 ' thread_join result=0 '
	# Those of <threads.h> are seen only where that library would not be called for them.
	locks=4000
	[[ $preload != *"/libbetween.so $libsync" ]] || locks=4001
	expect $locks ' mutex_lock result=0 '
	expect 3 ' sem_wait result=0 '
	expect 1 ' rwlock_rdlock result=0 '
	expect 1 ' rwlock_wrlock result=0 '
	expect 1 ' spin_lock result=0 '
	# Free ones were not waited for.
	expect 0 '_(rdlock|wrlock|spin_lock|mutex_timedlock)_begin '
done

# ThreadSanitizer dies in a thread that it did not see being created.
(build interposer -fsanitize=thread) >cannot 2>&1 ||
	{ cat cannot; echo "no ThreadSanitizer here"; exit 77; }
./interposer >bare 2>&1
[ $? -eq 5 ] || { cat bare; echo "ThreadSanitizer does not run here"; exit 77; }
rm -rf gprof-mt.data
traced ./interposer >out 2>&1
status=$?
[ $status -eq 5 ] || { cat out; fail "status $status under ThreadSanitizer"; }
diff bare out || fail "ThreadSanitizer says something else"
