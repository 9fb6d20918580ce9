#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sync.mode = contended: if one thread locks a mutex and another unlocks it, all holds of the mutex are
# recorded.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need babeltrace2
build unlock_by_other
unset GPROF_MT_CONFIG LD_PRELOAD
for holds in no yes; do
	printf '[sync]\npath_sample = off\nmode = contended\nholds = %s\n' "$holds" >contended.conf
	fresh env GPROF_MT_CONFIG="$PWD/contended.conf" LD_PRELOAD="$libsync" ./unlock_by_other >out 2>err || fail "exit status $?"
	[ ! -s err ] || fail "$(cat err)"
	"$GM_TOP/tests/babeltrace" gprof-mt.data/*/user >text || fail "a stream cannot be read"
	object=$(sed 's/^0x//' out | tr a-f A-F)
	events=$(grep -cE "\) mutex_(un)?lock: .*object = 0x$object " text)
	echo "holds = $holds: $events events of the mutex"
	# If half of the events were missing, two threads would seem to hold the mutex at the same time.
	[ "$events" = 400 ] || fail "holds = $holds: expected 400 events, found $events"
done
