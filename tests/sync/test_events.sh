#!/bin/bash
# SPDX-License-Identifier: MIT
# Every traced function is recorded as often as the program called it, with its result, in the program's
# order, for every way to load the library.
. "$GM_TOP/tests/sync/common.sh"

check()
{
	local mutex checked sem rwlock spin once writer
	events >events
	no_complaint
	mutex=$(sed -n 's/^object mutex //p' out)
	checked=$(sed -n 's/^object checked //p' out)
	sem=$(sed -n 's/^object sem //p' out)
	mutex="object=0x$(printf %X "$mutex")" checked="object=0x$(printf %X "$checked")"
	sem="object=0x$(printf %X "$sem")"

	expect 3003 " mutex_lock result=0 site=[1-9][0-9]* $mutex\$"
	expect 3003 " mutex_unlock result=0 site=[1-9][0-9]* $mutex\$"
	expect 1 " mutex_init result=0 .*$checked value=2\$"
	expect 1 " mutex_trylock result=0 .*$checked"
	expect 1 " mutex_trylock result=16 .*$checked"
	expect 1 " mutex_lock result=35 .*$checked"
	expect 0 " mutex_lock_begin .*$checked"
	expect 2 " mutex_timedlock result=0 .*$checked"
	expect 3 " mutex_unlock result=0 .*$checked"
	expect 1 " mutex_unlock result=1 .*$checked"
	expect 1 " mutex_destroy result=0 .*$checked"
	expect 2 " cond_timedwait_begin result=0 .*mutex=${checked#object=}\$"
	expect 2 " cond_timedwait result=110 .*mutex=${checked#object=}\$"
	expect 1 " cond_init "
	expect 1 " cond_destroy "
	expect 1 " cond_signal "
	expect 3 " cond_broadcast "
	expect "$(grep -c ' cond_wait_begin ' events)" " cond_wait result=0 "

	expect 1 " sem_init result=0 .*$sem value=0\$"
	expect 4 " sem_post result=0 .*$sem"
	expect 3 " sem_wait result=0 .*$sem"
	expect 2 " sem_timedwait_begin .*$sem"
	expect 2 " sem_timedwait result=110 .*$sem"
	expect 1 " sem_trywait result=11 .*$sem"
	expect 1 " sem_trywait result=0 .*$sem"
	expect 1 " sem_destroy result=0 .*$sem"
	expect 1 " sem_open result=2 site=[0-9]* object=0x0 value=0\$"
	expect 1 " sem_open result=0 .* value=7\$"
	expect 1 " sem_close result=0 "

	expect 1 " barrier_init result=0 .* value=3\$"
	expect 3 " barrier_wait result=(0|255) "
	expect 1 " barrier_wait result=255 "
	expect 1 " barrier_destroy result=0 "

	rwlock="object=0x$(printf %X "$(sed -n 's/^object rwlock //p' out)")"
	spin="object=0x$(printf %X "$(sed -n 's/^object spin //p' out)")"
	once="object=0x$(printf %X "$(sed -n 's/^object once //p' out)")"
	writer=$(sed -n 's/^pid //p' out)
	expect 1 " rwlock_init result=0 .*$rwlock value=0\$"
	expect 1 " rwlock_tryrdlock result=0 .*$rwlock"
	expect 1 " rwlock_trywrlock result=16 .*$rwlock"
	expect 1 " rwlock_timedwrlock_begin .*$rwlock holder=0\$"
	expect 1 " rwlock_timedwrlock result=110 .*$rwlock"
	expect 1 " rwlock_wrlock_begin .*$rwlock holder=0\$"
	expect 2 " rwlock_wrlock result=0 .*$rwlock"
	expect 1 " rwlock_rdlock_begin .*$rwlock holder=$writer\$"
	expect 2 " rwlock_rdlock result=0 .*$rwlock"
	expect 5 " rwlock_unlock result=0 .*$rwlock"
	expect 1 " rwlock_destroy result=0 .*$rwlock"
	expect 1 " spin_init result=0 .*$spin"
	expect 1 " spin_trylock result=0 .*$spin"
	expect 1 " spin_trylock result=16 .*$spin"
	expect 1 " spin_lock_begin .*$spin"
	expect 2 " spin_lock result=0 .*$spin"
	expect 3 " spin_unlock result=0 .*$spin"
	expect 1 " spin_destroy result=0 .*$spin"
	expect 1 " once_begin .*$once"
	expect 3 " once result=0 .*$once"

	expect 9 " thread_create result=0 "
	expect 9 " thread_start .* value=0\$"
	expect 8 " thread_join result=0 "
	expect 1 " thread_join result=16 "
	expect 2 " thread_join result=110 "
	expect 1 " thread_detach result=0 "

	# each thread: its start is first, its exit last
	awk '$3 != "site" { if (!($1 in first)) first[$1] = $3; last[$1] = $3 }
	     END { for (i = 1; i <= 3; i++)
			if (first[i] != "thread_start" || last[i] != "thread_exit") exit 1 }' events ||
		fail "the events of a thread are out of order"
}

run()
{
	"$@" >out
	local status=$?
	[ $status -eq 42 ] || fail "exit status $status of: $*"
}

build all
./all >bare
[ $? -eq 42 ] || fail "the program fails without the library"
rm -rf gprof-mt.data
run traced ./all
check
echo "preloaded: ok"

build all -L"$GM_BUILD" -lsync_trace -Wl,-rpath,"$GM_BUILD"
rm -rf gprof-mt.data
run ./all
check
echo "linked: ok"

build all -pg
run traced ./all
check
echo "-pg: ok"
