#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program with both libraries is killed 200 times at random instants: the report has exactly the
# calls and locks that happened before, and finds no damage.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

build_pg kills
printf '[sync]\nmode = all\n' >gprof-mt.conf
for round in 1 2 3 4; do
	rm -f counts
	LD_PRELOAD=$libsync fresh ./kills 50 >bounds || fail "round $round: exit status $?"
	"$gprof_mt" report --format json flat >flat.json 2>err || fail "flat: $(cat err)"
	"$gprof_mt" report --format json locks >locks.json 2>>err || fail "locks: $(cat err)"
	! grep -iE "damage|cut short|missing|invalid|skipped|twice" err || fail "round $round: expected no warning of a report"
	python3 "$programs/kills.py" bounds flat.json locks.json || fail "round $round: calls or locks were lost or invented"
done
