#!/bin/bash
# SPDX-License-Identifier: MIT
# C++ programs: the library's threads and locks are recorded; exceptions and cancellation unwind through the
# wrappers.
. "$GM_TOP/tests/sync/common.sh"
need g++

for flags in "" -pg; do
	# shellcheck disable=SC2086 # an empty flag must vanish
	build cxx $flags
	./cxx | grep -v ^mutex >without || fail "the program fails without the library"
	rm -rf gprof-mt.data
	traced ./cxx >out || fail "the program fails when traced"
	diff without <(grep -v ^mutex out) || fail "the output changes when traced"
	events >events
	no_complaint
	mutex="object=0x$(printf %X "$(sed -n 's/^mutex //p' out)")"
	expect 2006 " mutex_lock result=0 site=[1-9][0-9]* $mutex\$"
	# the mutex of a wait is released and reacquired in it: as many unlocks as locks
	expect 2006 " mutex_unlock result=0 site=[1-9][0-9]* $mutex\$"
	expect 7 ' thread_start '
	expect 7 ' thread_exit '
	expect 1 ' cond_wait result=125 '
	expect 1 ' cond_timedwait result=110 '
done

build cxx
ulimit -c 0
sh -c './cxx throw; exit $?' 2>&1 | grep -v Aborted >without
bare=${PIPESTATUS[0]}
rm -rf gprof-mt.data
LD_PRELOAD=$libsync sh -c './cxx throw; exit $?' 2>&1 | grep -v Aborted >with
[ "${PIPESTATUS[0]}" -eq "$bare" ] || fail "a thread's exception: expected exit status $bare"
diff without with || fail "the message about the exception changed"
events "$(dirname gprof-mt.data/*/user/stream_1)" >events
no_complaint
expect 1 ' thread_start '
