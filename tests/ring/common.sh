# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Functions for the tests of rings.
. "$GM_TOP/tests/lib.sh"

# streams_bytes CAPTURE: prints the size of all files of streams.
streams_bytes()
{
	find "$1" \( -path '*/user/stream_*' -o -path '*/kernel/channel0_*' \) -printf '%s\n' 2>/dev/null |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# problems FILE: prints the problems in a report of `quality` in JSON, except for wake-ups: some kernels drop these on
# an idle CPU, also without a ring.
problems()
{
	jq -c '[.quality[] | select(.what != "ended a sleep without a recorded wake-up")]' "$1"
}

# ring_from CAPTURE: prints the time in ns, from the start of the capture, from which on it has all events.
ring_from()
{
	"$gprof_mt" report -i "$1" --format json summary 2>/dev/null | jq '.summary[0].from_ns'
}

# complete_events CAPTURE: fails unless Babeltrace reads it, and the part of the ring has each acquisition of the only
# lock, and the definition of each call site and call path that it names.
complete_events()
{
	babeltrace2 --clock-cycles --no-delta "$1" >events.txt 2>bt.err || fail "babeltrace2: $(cat bt.err)"
	[ ! -s bt.err ] || fail "babeltrace2 warns: $(cat bt.err)"
	python3 "$programs/check_complete.py" "$1" events.txt || fail "$1: the ring is not complete"
}
