#!/bin/bash
# SPDX-License-Identifier: MIT
# `go tool pprof` shows the same calls, callers, CPU time and blocked time as the reports, for all threads and for one.
. "$GM_TOP/tests/lib.sh"
need go

compare()
{
	PYTHONDONTWRITEBYTECODE=1 python3 "$GM_TOP/tests/viewers/pprof_check.py" "$gprof_mt" "${@:2}" || fail "$*"
}

. "$GM_TOP/tests/export/pprof_captures.sh"
exit 0
