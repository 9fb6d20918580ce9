#!/bin/bash
# SPDX-License-Identifier: MIT
# While one thread opens the library, others sleep; then both are recorded.
. "$GM_TOP/tests/sync/common.sh"

build library_start -D_GNU_SOURCE -I"$GM_TOP/tests" -fPIC -shared
mv library_start liblibrary_start.so
echo 'int main(void) { return 3; }' >app.c
$CC -o app app.c || fail "cannot compile"
timeout 60 env LD_PRELOAD="$libsync $PWD/liblibrary_start.so" ./app
status=$?
[ $status -eq 3 ] || fail "status $status"
events >events
no_complaint
expect 2 ' mutex_lock result=0 '
expect 2 ' mutex_unlock '
