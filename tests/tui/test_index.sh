#!/bin/bash
# SPDX-License-Identifier: MIT
# The browser's index against the passes: on the cases of tests/pass, and on real runs.
. "$GM_TOP/tests/runtime/record/common.sh"
compare=$GM_BUILD/tests/tui/compare_index

"$compare" "$GM_TOP"/tests/pass/*.txt || fail 'see above'
# compare SOURCE PROGRAM...
compare()
{
	local source=$1
	shift
	rm -rf gprof-mt.data
	"$gprof_mt" record -q --set kernel.source="$source" -- "$@" >out || fail "record $*"
	"$compare" gprof-mt.data || fail "$*, $source: see above"
}
compare auto "$GM_BUILD/examples/philosophers" 4 50
compare none "$GM_BUILD/examples/philosophers" 4 50
compare auto "$GM_BUILD/examples/client_server" 4
compare auto "$GM_BUILD/examples/crossroad" 3
