#!/bin/bash
# SPDX-License-Identifier: MIT
# SIGKILL at random moments, 200 times: the report has every call that was counted before.
. "$GM_TOP/tests/gmon/common.sh"

build_pg killed
fresh timeout 150 ./killed 200 >bounds || fail "exit status $?: $(tail -n 1 bounds)"
"$GM_BUILD/gprof-mt" report --format json flat >report 2>err || fail "report: $(cat err)"
python3 "$programs/killed.py" gprof-mt.data bounds report >wrong || fail "$(cat wrong)"
exit 0
