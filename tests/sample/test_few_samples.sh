#!/bin/bash
# SPDX-License-Identifier: MIT
# Fewer than 10 samples have times but no percentages, and the text says so.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"

# profile HZ MS: writes the flat profiles of ratio, whose two threads use MS each, to "text".
profile()
{
	sampling "$1"
	fresh ./ratio "$2" 2 >out || fail "ratio $2: exit status $?"
	"$gprof_mt" report flat >text || fail "report"
}

build_pg ratio -falign-functions=64
for run in "50 60" "50 300" "250 300"; do
	# shellcheck disable=SC2086 # two arguments
	profile $run
	cat text
	awk '
		/ samples of .* of CPU time/ {
			n = $1
			if (match($0, /[0-9]+ of them in gprof-mt/))
				n -= substr($0, RSTART)
			says = / too few for percentages/
			if (says != (n < 10)) { print "wrong: " $0; wrong = 1 }
			few += n < 10; many += n >= 10
			next
		}
		# Rows begin with the percentage; the row of gprof-mt has none.
		$NF ~ /^[ab]$/ {
			if (n < 10 ? $1 != "-" : $1 !~ /^[0-9]+\.[0-9][0-9]$/) { print "wrong: " $0; wrong = 1 }
			if ($2 !~ /^[0-9.]+$/ || $3 !~ /^[0-9.]+$/) { print "no time: " $0; wrong = 1 }
			rows++
		}
		END { print few + 0, many + 0 >"counted"; exit wrong || !rows }' text || fail "$run"
	read -r few many <counted
	case $run in
	"50 60") [ "$few" -gt 0 ] || fail "$run: expected a thread with few samples" ;;
	"250 300") [ "$many" -gt 0 ] || fail "$run: expected a thread with many samples" ;;
	esac
done
exit 0
