#!/bin/bash
# SPDX-License-Identifier: MIT
# Another library's functions between the program's and libc's, without a version as a sanitizer's
# are, see all that they would see without us.
. "$GM_TOP/tests/runtime/test_sync_programs/common.sh"

$CC -std=gnu17 -D_GNU_SOURCE -DLIBRARY -g -O1 -fPIC -shared -o libbetween.so \
	"$PROGRAMS/interposer.c" || fail "cannot compile"
build interposer -DCOUNTED -L. -lbetween -Wl,-rpath,"$PWD"
./interposer >bare
[ $? -eq 5 ] || fail "the program itself fails"
for preload in "$LIBRARY" "$LIBRARY $PWD/libbetween.so" "$PWD/libbetween.so $LIBRARY"; do
	rm -rf gprof-mt.data
	LD_PRELOAD=$preload ./interposer >out
	status=$?
	[ $status -eq 5 ] || fail "status $status with $preload"
	diff bare out || fail "what it saw has changed with $preload"
	events >events
	no_complaint
	expect 4 ' thread_create '
	expect 4000 ' mutex_lock result=0 '
	expect 4000 ' mutex_unlock '
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
