#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the CPU time of a program that records its accesses in critical sections, in multiples of its time without
# -fsanitize=thread, and of its time with libtsan: one whose accesses are nearly all outside of sections, one that
# mostly computes, and one whose accesses are all in sections (without a budget: the time depends on how often sets
# repeat). The static library is linked; a row has the shared one. Rows with gcc's plugin are there if it was built, and
# then have the budget. The minimum of ROUNDS (default 5) runs counts.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget (as a ratio), verdict.
set -eu

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPROF_MT_CONFIG LD_PRELOAD
# shellcheck source=tests/bench/timed.sh
. "$GM_TOP/tests/bench/timed.sh"
printf '[sync]\nmode = all\npath_sample = off\n' >all.conf
source=$GM_TOP/tests/bench/accesses.c
read -ra flags < <(sed -n 's/^Cflags: //p' "$GM_TOP/libsync-trace/access/access-trace.pc.in")
rest=(-lsync_trace "-Wl,-rpath,$GM_BUILD" -pthread)

gcc -O2 -o bare "$source" -pthread
gcc -O2 -fsanitize=thread -o tsan "$source" -pthread
gcc -O2 "${flags[@]}" -c -o accesses.o "$source"
gcc -o static accesses.o -L"$GM_BUILD" -l:libaccess_trace.a "${rest[@]}"
gcc -o shared accesses.o -L"$GM_BUILD" -laccess_trace "${rest[@]}"
programs='bare tsan static shared' with_budget=static
if [ -e "$GM_BUILD/access_gate.so" ]; then
	gcc -O2 "${flags[@]}" "-fplugin=$GM_BUILD/access_gate.so" -c -o plugin.o "$source"
	gcc -o plugin plugin.o -L"$GM_BUILD" -l:libaccess_trace.a "${rest[@]}"
	gcc -o plugin_shared plugin.o -L"$GM_BUILD" -laccess_trace "${rest[@]}"
	programs="$programs plugin plugin_shared" with_budget=plugin
fi

# By single steps, compared with all operations without accesses: the budget is 5 percent, give or take two. With blocks
# of the heap (access.blocks) there is none.
preload="$GM_BUILD/libgmon_mt.so $GM_BUILD/libsync_trace.so"
if [ -e "$GM_BUILD/libaccess_step.so" ]; then
	for round in $(seq "${ROUNDS:-5}"); do
		for run in "mixed 300000" "often 600000" "heap 600000"; do
			name=${run% *}
			rm -rf gprof-mt.data
			# shellcheck disable=SC2086 # two arguments
			timed "$name.operations" env GPROF_MT_CONFIG=all.conf LD_PRELOAD="$preload" ./bare $run
			rm -rf gprof-mt.data
			# shellcheck disable=SC2086
			timed "$name.stepped" env GPROF_MT_CONFIG=all.conf \
				LD_PRELOAD="$preload $GM_BUILD/libaccess_step.so" ./bare $run
			rm -rf gprof-mt.data
			# shellcheck disable=SC2086
			timed "$name.blocks" env GPROF_MT_CONFIG=all.conf \
				LD_PRELOAD="$preload $GM_BUILD/libaccess_step_blocks.so" ./bare $run
			[ -n "$(compgen -G 'gprof-mt.data/*/accesses/stream_0')" ] ||
				{ echo "no accesses of $name by steps in round $round" >&2; exit 1; }
		done
	done
fi

declare -A steps=([rare]=200000 [mixed]=100000 [locked]=20000 [heap]=50000 [queue]=500000)
for _ in $(seq "${ROUNDS:-5}"); do
	for kind in rare mixed locked heap queue; do
		for program in $programs; do
			rm -rf gprof-mt.data
			# shellcheck disable=SC2086 # words without spaces
			timed $kind.$program env GPROF_MT_CONFIG=all.conf ./$program $kind ${steps[$kind]}
		done
		[ -n "$(compgen -G 'gprof-mt.data/*/accesses/stream_0')" ] || { echo "no accesses of $kind" >&2; exit 1; }
	done
done

# row WHAT PEER FILE_OF_PEER FILE BUDGET
row()
{
	local peer ours
	peer=$(sort -g "$3" | head -n 1) ours=$(sort -g "$4" | head -n 1)
	awk -v what="$1" -v name="$2" -v p="$peer" -v o="$ours" -v b="$5" 'BEGIN {
		printf "%s\t%s\t%s\t%s\ts\t%.3f\t%s\t%s\n", what, name, p, o, o / p, b, b == "-" ? b : o / p <= b ? "pass" : "miss" }'
}

# rows PEER PROGRAM HOW
rows()
{
	local budgets=(- -)
	[ "$1.$2" != bare.$with_budget ] || budgets=(5 1.5)
	row "accesses outside of sections$3" "$1" rare."$1" rare."$2" "${budgets[0]}"
	row "mostly computing$3" "$1" mixed."$1" mixed."$2" "${budgets[1]}"
	row "all accesses in sections$3" "$1" locked."$1" locked."$2" -
	row "allocating$3" "$1" heap."$1" heap."$2" -
	row "a list of allocated nodes$3" "$1" queue."$1" queue."$2" -
}

if [ -e mixed.stepped ]; then
	row "single steps, 5 % of the time" operations mixed.operations mixed.stepped 1.07
	row "single steps, a section every 1.3 us" operations often.operations often.stepped 1.07
	row "single steps, allocating" operations heap.operations heap.stepped 1.07
	row "single steps with blocks, 5 % of the time" operations mixed.operations mixed.blocks -
	row "single steps with blocks, a section every 1.3 us" operations often.operations often.blocks -
	row "single steps with blocks, allocating" operations heap.operations heap.blocks -
fi
for peer in bare tsan; do
	rows $peer static ""
	row "accesses outside of sections, shared library" $peer rare.$peer rare.shared -
	if [ $with_budget = plugin ]; then
		rows $peer plugin ", gcc's plugin"
		row "accesses outside of sections, gcc's plugin, shared library" $peer rare.$peer rare.plugin_shared -
	fi
done
