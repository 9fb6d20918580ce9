#!/bin/bash
# SPDX-License-Identifier: MIT
# A warning goes to stderr, never to a file of the program's that took its descriptor.
. "$GM_TOP/tests/gmon/common.sh"
[ "$(id -u)" = 0 ] || skip "chroot() is root's"
build_pg other_stderr

fresh ./other_stderr >out
same "exit status" 5 $?
same "the program's data" payload "$(cat out)"
rm -rf jail
fresh env LD_PRELOAD="$GM_BUILD/libsync_trace.so" ./other_stderr >out
same "exit status, both libraries" 5 $?
same "the program's data, both libraries" payload "$(cat out)"

# What stderr was from the start is told, a deleted file and a pipe too.
printf '[calls]\nmode = sometimes\n' >bad.conf
for how in '2>err' '2> >(cat >err)' '3>err 2>&3' '2<>err'; do
	rm -rf jail err
	eval "GPROF_MT_CONFIG=bad.conf ./other_stderr >out $how"
	for ((i = 0; i < 100; i++)); do
		[ -s err ] && break
		sleep 0.1
	done
	grep -q 'bad.conf' err || fail "nothing said with $how"
	same "the program's data with $how" payload "$(cat out)"
done
