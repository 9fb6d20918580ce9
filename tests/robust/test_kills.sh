#!/bin/bash
# SPDX-License-Identifier: MIT
#
# 200 kills at random instants of a program with both libraries: nothing that it had counted or
# locked before is missing, nothing else is there, and the readers find no damage.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

build_pg kills
printf '[sync]\nmode = all\n' >gprof-mt.conf
for round in 1 2 3 4; do
	rm -f counts
	LD_PRELOAD=$libsync fresh ./kills 50 >bounds || fail "round $round: exit status $?"
	"$gprof_mt" report --format json flat >flat.json 2>err || fail "flat: $(cat err)"
	"$gprof_mt" report --format json locks >locks.json 2>>err || fail "locks: $(cat err)"
	! grep -iE "damage|cut short|missing|twice" err || fail "round $round: the reports complain"
	python3 "$programs/kills.py" bounds flat.json locks.json || fail "round $round"
done
