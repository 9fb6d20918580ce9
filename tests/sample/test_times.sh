#!/bin/bash
# SPDX-License-Identifier: MIT
# Samples give self times by thread: as many as the CPU time on the threads' own clocks, in the proportion of
# its use; stock gprof reads the same from every gmon file.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"
sampling 250

# measure NAME OBJECT PART COMMAND...: runs COMMAND; `a` is in OBJECT, `b` in PART ("" or a library).
measure()
{
	local what=$1 object=$2 part=$3 index of_b theirs
	shift 3
	fresh "$@" 300 2 >out || fail "$what: exit status $?"
	"$gprof_mt" report --format json flat >flat.json || fail "$what: report"
	check ratio "$(folder)" out
	of_b=("$object")
	[ -z "$part" ] || of_b=("$part" ".$part")
	theirs=()
	for index in 0 1; do
		file=$(echo "$(folder)/gmon.$index".[0-9]*[0-9])
		theirs+=("$index" a "$(self "$object" "$file" a)")
		theirs+=("$index" b "$(self "${of_b[0]}" "$file${of_b[1]:-}" b)")
	done
	theirs+=(all a "$(self "$object" gmon.out a)")
	if [ -n "$part" ]; then
		theirs+=(all b "$(self "$part" "$(folder)/gmon.merged.$part" b)")
	else
		theirs+=(all b "$(self "$object" gmon.out b)")
	fi
	# gprof adds up several files, even if their blocks of code differ.
	gprof -b -p "$object" "$(folder)"/gmon.*[0-9] >sum 2>&1
	theirs+=(all a "$(awk '$NF == "a" { print $3 }' sum)")
	check same flat.json "${theirs[@]}"
}

flags=(-falign-functions=64)
build_pg ratio "${flags[@]}"
measure linked ratio "" ./ratio
gprof -b -q ratio gmon.out >graph 2>&1 || fail "gprof -q: $(cat graph)"
gprof -b -l ratio gmon.out >lines 2>&1 || fail "gprof -l: $(cat lines)"

compile_pg "${flags[@]}" -fPIC -shared -o libratio.so ratio_library.c
"$CC" -std=gnu17 -D_GNU_SOURCE -O1 -g -pg -DLIBRARY -no-pie "${flags[@]}" -o plain "$programs/ratio.c" \
	-pthread -L. -lratio -Wl,-rpath,"$PWD" || fail "cannot compile plain"
measure "preloaded, with a library" plain libratio.so preloaded ./plain

link_with "$GM_BUILD/libgmon_mt.a" -static
build_pg ratio "${flags[@]}"
measure static ratio "" ./ratio
exit 0
