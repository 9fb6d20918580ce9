#!/bin/bash
# SPDX-License-Identifier: MIT
# `go tool pprof` shows the calls, callers, CPU time and time blocked that reports have, for all threads and for one.
. "$GM_TOP/tests/lib.sh"
need go

compare()
{
	PYTHONDONTWRITEBYTECODE=1 python3 "$GM_TOP/tests/viewers/pprof_check.py" "$gprof_mt" "${@:2}" || fail "$*"
}

. "$GM_TOP/tests/export/pprof_captures.sh"
exit 0
