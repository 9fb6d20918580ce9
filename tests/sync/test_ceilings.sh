#!/bin/bash
# SPDX-License-Identifier: MIT
# pthread_mutex_setprioceiling() is recorded as what it does: a lock, which waits if the mutex is taken, and an unlock.
# pthread_mutex_consistent() is an event of its mutex.
. "$GM_TOP/tests/sync/common.sh"

build ceilings
./ceilings >/dev/null || fail "the program fails without the library"
for mode in all contended; do
	printf '[sync]\nmode = %s\npath_sample = off\n' $mode >$mode.conf
	GPROF_MT_CONFIG=$PWD/$mode.conf traced ./ceilings >out || fail "$mode: the program fails when traced"
	read -r main waiter mutex recursive robust <out
	hex="object=0x$(printf %X "$mutex")"
	events >events
	no_complaint
	expect 1 " $waiter mutex_lock_begin result=0 site=[1-9][0-9]* $hex holder=$main\$"
	expect 1 " $waiter mutex_lock result=0 site=[1-9][0-9]* $hex\$"
	expect 1 " $waiter mutex_unlock result=0 site=[1-9][0-9]* $hex\$"
	# without a wait: an event each, or only counted
	n=$([ $mode = all ] && echo 1 || echo 0)
	expect "$n" " $main mutex_lock result=0 .*$hex\$"
	expect "$n" " $main mutex_unlock result=0 .*$hex\$"
	expect 0 " mutex_lock result=[1-9][0-9]* .*$hex\$"
	expect 0 " mutex_(lock|unlock) .*object=0x$(printf %X "$recursive")\$"
	hex="object=0x$(printf %X "$robust")"
	expect 1 " $main mutex_consistent result=22 .*$hex\$"
	expect 1 " $main mutex_lock result=130 .*$hex\$"
	expect 1 " $main mutex_consistent result=0 site=[1-9][0-9]* $hex\$"

	"$gprof_mt" report --format json locks >report.json || fail "$mode: report: exit status $?"
	jq -e --arg o "$(printf '0x%x' "$mutex")" '.locks[] | select(.object == $o) |
		(.acquired == 2 or .acquired == null) and .contended == 1' report.json >/dev/null ||
		fail "$mode: expected 2 acquisitions (where all are recorded), 1 with a wait: $(jq -c '.locks[]' report.json)"
	[ "$("$gprof_mt" report --format json quality | jq '.quality | length')" = 0 ] ||
		fail "$mode: the holds are not balanced: $("$gprof_mt" report quality)"
done
"$gprof_mt" history --format json | grep -q '"mutex_consistent"' || fail "the history has no mutex_consistent"
