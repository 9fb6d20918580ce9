#!/bin/bash
# SPDX-License-Identifier: MIT
# Times of the threads in `report threads`, compared with perf's recording of the same run.
. "$GM_TOP/tests/record/common.sh"
need perf
can_trace || skip "perf's tracepoints are not permitted"

compare()
{
	rm -rf gprof-mt.data perf.data
	perf sched record -m 4096 -o perf.data -- "$gprof_mt" record -q --set kernel.source=perf -- "$@" >out 2>err ||
		{ cat err; return 1; }
	jq -e '(.losses // [] | length) == 0' gprof-mt.data/info.json >/dev/null && ! grep -qi lost err ||
		{ echo "events are missing"; return 1; }
	perf script -i perf.data --ns -F tid,time,event,trace >script 2>err || { cat err; return 1; }
	"$gprof_mt" report --format json threads >report.json || return 1
	python3 "$GM_TOP/tests/truth/programs/perf.py" script report.json
}
keep_busy
retry compare "$GM_BUILD/examples/philosophers" 5 100
retry compare "$GM_BUILD/examples/client_server" 3
