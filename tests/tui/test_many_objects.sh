#!/bin/bash
# SPDX-License-Identifier: MIT
# The private memory of the browser does not depend on the number of objects if its index is in files, as it is for
# captures of 8 MB or more.
. "$GM_TOP/tests/tui/common.sh"

"$CC" -O2 -g -o objects "$GM_TOP/tests/report/programs/objects.c" -pthread || fail "cannot compile"
few=300000 many=1200000
! with_sanitizers || few=1500 many=4000

# memory N: browses N objects, and prints the KiB of private memory
memory()
{
	local browser
	"$gprof_mt" record -q -o "$1" --set kernel.source=none --set sync.mode=all -- ./objects "$1" 10 64 ||
		fail "record"
	terminal 100 30
	run "$gprof_mt browse -i $PWD/$1"
	shows "OBJECTS $(($1 + 1))"
	keys o
	keys G
	keys Enter
	shows "OPERATIONS on mutex counter"
	browser=$(pgrep -P "$(in_tmux display-message -p '#{pane_pid}')")
	awk '$1 == "RssAnon:" { print $2 }' "/proc/$browser/status"
	end_terminal
}

small=$(memory $few) || fail "$small"
large=$(memory $many) || fail "$large"
echo "browse: $small KiB of private memory for $few objects, $large KiB for $many"
with_sanitizers || [ "$large" -le $((small + 4096)) ] || fail "memory depends on the number of objects"
