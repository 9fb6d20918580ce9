#!/bin/bash
# SPDX-License-Identifier: MIT
# The native reader reads as many of each event as babeltrace2: of every kind, and in bulk.
set -e
. "$GM_TOP/tests/lib.sh"
need babeltrace2
ctf=$GM_BUILD/tests/ctf

same()
{
	local dir=$1
	"$ctf/make_capture" "$@"
	"$ctf/count_events" "$dir" | sort -k2 >"$dir.ours"
	# The native reader does not return call sites, call paths and numbers of tries as events.
	babeltrace2 "$dir" | sed -E 's/^\[[^]]*\] \([^)]*\) ([a-z_]+):.*/\1/' | grep -Evx 'site|path|call_path|tries' |
		sort | uniq -c | awk '{ print $1, $2 }' | sort -k2 >"$dir.theirs"
	[ -s "$dir.theirs" ] || { echo "babeltrace2 read nothing of $dir"; exit 1; }
	diff "$dir.theirs" "$dir.ours"
}

same every every
same one 1 1000
same many 7 50000
[ "$(wc -l <every.ours)" -ge 40 ]
[ "$(awk '{ n += $1 } END { print n }' many.ours)" -ge 50000 ]
