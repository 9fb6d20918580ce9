#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A thread that is unwound out of a condition wait does not take the loader's lock, because a constructor
# that holds this lock may join the thread.  The clean-up handler runs, and the wait has an end.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need babeltrace2
build cancelled_wait -rdynamic
build cancelled_wait_plugin -shared -fPIC
printf '[sync]\nmode = all\n' >all.conf
unset GPROF_MT_CONFIG LD_PRELOAD
for round in {1..20}; do
	for how in exit cancel; do
		fresh env GPROF_MT_CONFIG="$PWD/all.conf" LD_PRELOAD="$libsync" timeout 60 ./cancelled_wait "$how" ./cancelled_wait_plugin >out ||
			fail "$how, round $round: exit status $?"
		[ "$(cat out)" = 1 ] || fail "$how: expected 1 clean-up, found $(cat out)"
		"$GM_TOP/tests/babeltrace" gprof-mt.data/*/user >text || fail "$how: a stream cannot be read"
		begun=$(grep -c ' cond_wait_begin: ' text) ended=$(grep -c ' cond_wait: .*result = 125' text)
		[ "$begun,$ended" = 1,1 ] || fail "$how: expected 1 begun and 1 cancelled wait, found $begun and $ended"
	done
done
echo "20 rounds of each"
