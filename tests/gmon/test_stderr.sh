#!/bin/bash
# SPDX-License-Identifier: MIT
# A warning goes to stderr, never to a file of the program that has taken its descriptor.
. "$GM_TOP/tests/gmon/common.sh"
[ "$(id -u)" = 0 ] || skip "chroot() needs root privileges"
build_pg stderr_replaced

fresh ./stderr_replaced >out
same "exit status" 5 $?
same "the program's data" payload "$(cat out)"
rm -rf jail
fresh env LD_PRELOAD="$GM_BUILD/libsync_trace.so" ./stderr_replaced >out
same "exit status, both libraries" 5 $?
same "the program's data, both libraries" payload "$(cat out)"

# The original stderr gets the message, even if it is a deleted file or a pipe.
printf '[calls]\nmode = sometimes\n' >bad.conf
for how in '2>err' '2> >(cat >err)' '3>err 2>&3' '2<>err'; do
	rm -rf jail err
	eval "GPROF_MT_CONFIG=bad.conf ./stderr_replaced >out $how"
	for ((i = 0; i < 100; i++)); do
		[ -s err ] && break
		sleep 0.1
	done
	grep -q 'bad.conf' err || fail "expected a message that names bad.conf with $how"
	same "the program's data with $how" payload "$(cat out)"
done
