#!/bin/bash
# SPDX-License-Identifier: MIT
# <threads.h>: the same results, and each operation is recorded, unless another library defines these names.
. "$GM_TOP/tests/sync/common.sh"

object()
{
	printf 'object=0x%X' "$(sed -n "s/^$1 //p" out)"
}

build c11 -no-pie
./c11 >without
[ $? -eq 9 ] || fail "the program fails without the library"
traced ./c11 >out
[ $? -eq 9 ] || fail "the program fails when traced"
diff without out || fail "the output changes when traced"
events >events
no_complaint
mutex=$(object mutex) timed=$(object timed) cond=$(object cond)

# There are 4 x 500 rounds, 4 turns, and two locks at the end of main.
expect 2006 " mutex_lock result=0 site=[1-9][0-9]* $mutex\$"
expect 2006 " mutex_unlock result=0 .*$mutex\$"
expect 1 " mutex_init result=0 .*$timed value=1\$"
expect 1 " mutex_lock result=0 .*$timed"
expect 1 " mutex_trylock result=0 .*$timed"
expect 1 " mutex_trylock result=16 .*$timed"
expect 1 " mutex_timedlock_begin .*$timed"
expect 1 " mutex_timedlock result=110 .*$timed"
expect 1 " mutex_destroy result=0 .*$timed"
expect 1 " cond_timedwait result=110 .*$cond"
expect 1 " cond_signal .*$cond"
expect 4 " cond_broadcast .*$cond"
expect "$(grep -c ' cond_wait_begin ' events)" " cond_wait result=0 .*$cond"
expect 4 " once result=0 .*$(object once)"
expect 5 " thread_create result=0 "
expect 5 " thread_start "
expect 4 " thread_join result=0 "
expect 1 " thread_detach result=0 "

$CC -std=gnu17 -O1 -fPIC -shared -DLIBRARY -pthread -o libforeign.so "$programs/c11_foreign.c" ||
	fail "cannot compile the foreign library"
build c11_foreign -L. -lforeign -Wl,-rpath,"$PWD"
./c11_foreign >out || fail "the program with a foreign library fails without tracing"
traced ./c11_foreign >out || fail "the program with a foreign library fails when traced"
events >events
no_complaint
expect 10 " mutex_lock result=0 .*$(object inside)\$"
expect 10 " mutex_lock "
