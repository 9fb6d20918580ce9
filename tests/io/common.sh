# SPDX-License-Identifier: MIT
# Functions for the tests of blocking calls; babeltrace2 is the witness of the recorded events.
# shellcheck shell=bash
. "$GM_TOP/tests/sync/common.sh"
# shellcheck disable=SC2034 # for build()
programs=$GM_TOP/tests/io/programs

printf '[io]\nthreshold = 0ns\n' >every.conf
printf '[sync]\nmode = all\n[io]\nthreshold = 10us\n' >traced.conf

# io_events: prints "NAME TID RESULT OBJECT BEGIN END PATH SITE" for each recorded call, in ns of CLOCK_MONOTONIC.
io_events()
{
	moved
	"$GM_TOP/tests/babeltrace" --no-delta --clock-cycles gprof-mt.data/*/user 2>babeltrace.err >text ||
		fail "babeltrace2 failed: $(cat babeltrace.err)"
	[ ! -s babeltrace.err ] || fail "babeltrace2 warned: $(cat babeltrace.err)"
	python3 "$programs/io_events.py" "$GM_TOP/libsync-trace/include/sync-trace/calls.h" <text
}
