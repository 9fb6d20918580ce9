#!/bin/bash
# SPDX-License-Identifier: MIT
# `report locks` of a real run: the distribution of waits and holds agrees with the output of babeltrace2.
. "$GM_TOP/tests/lib.sh"
need babeltrace2 jq python3

"$CC" -O2 -g -o known "$GM_TOP/tests/truth/programs/known.c" -pthread || fail "cannot compile"

# compare LEAST PROGRAM...
compare()
{
	local least=$1
	shift
	rm -rf gprof-mt.data
	"$gprof_mt" record -q --set kernel.source=none --set sync.mode=all -- "$@" >out 2>err || fail "record: $(cat err)"
	jq -e '(.losses // [] | length) == 0' gprof-mt.data/info.json >/dev/null || { echo "events are missing"; return 1; }
	"$GM_TOP/tests/babeltrace" --clock-seconds gprof-mt.data/*/user >events || fail "babeltrace2"
	"$gprof_mt" report --format json locks >report.json || fail "report"
	python3 "$GM_TOP/tests/report/programs/locks/distribution.py" events report.json "$least"
}
# The scheduler decides whether threads wait, except in the last program.
retry compare 0 "$GM_BUILD/examples/crossroad" 20
retry compare 0 "$GM_BUILD/examples/client_server" 4
retry compare 1 ./known
"$gprof_mt" report locks >text || fail "report"
grep -q 'by call site of the holder' text || fail "no table of the holders' call sites: $(cat text)"
