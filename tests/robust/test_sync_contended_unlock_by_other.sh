#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sync.mode = contended: a mutex that another thread unlocks than locked it has all its holds
# recorded.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need babeltrace2
build handed
unset GPROF_MT_CONFIG LD_PRELOAD
for holds in no yes; do
	printf '[sync]\nmode = contended\nholds = %s\n' "$holds" >contended.conf
	fresh env GPROF_MT_CONFIG="$PWD/contended.conf" LD_PRELOAD="$libsync" ./handed >out 2>err || fail "exit status $?"
	[ ! -s err ] || fail "$(cat err)"
	"$GM_TOP/tests/babeltrace" gprof-mt.data/*/user >text || fail "a stream cannot be read"
	object=$(sed 's/^0x//' out | tr a-f A-F)
	events=$(grep -cE "\) mutex_(un)?lock: .*object = 0x$object " text)
	echo "holds = $holds: $events events of the mutex"
	# With half of them missing, one thread seems to hold it while the other does.
	[ "$events" = 400 ] || fail "holds = $holds: $events events of 400"
done
