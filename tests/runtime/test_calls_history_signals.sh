#!/bin/bash
# SPDX-License-Identifier: MIT
# A handler may come after any instruction of a record's, fork, and make records of its own, few or
# so many that the packet and the file change: each record is there, whole, in order of time.
. "$GM_TOP/tests/runtime/history/common.sh"

# Where mcount.S and history.S are, from mcount.
ranges=$(nm -S "$GM_BUILD/libgmon_mt.so" | awk '
	$4 == "mcount" { base = $1 }
	$4 ~ /^(mcount|__fentry__|__return__|gm_count_miss|gm_history_call|gm_history_return)$/ {
		start[$4] = $1; size[$4] = $2 }
	END { for (name in start) print base, start[name], size[name] }' |
	while read -r base start size; do
		echo $((0x$start - 0x$base)) $((0x$start - 0x$base + 0x$size))
	done)
[ "$(wc -l <<<"$ranges")" -eq 6 ] || fail "functions not found: $ranges"

build pg steps.c -pg
build exits steps.c -pg -mfentry -minstrument-return=call
configure "buffer = 4K"
for calls in 1 520; do
	for program in pg exits; do
		# shellcheck disable=SC2086 # numbers
		fresh timeout 120 ./$program $calls $ranges >met || fail "$program: exit status $?"
		least=50
		[ $program = pg ] || least=90
		[ "$(cat met)" -ge $least ] || fail "$program: only $(cat met) instructions met"
		records ./$program >found || fail "$program"
		# Entries alone: b, then b and the handler's, in either order; or none if all was slow.
		sed -E 's/[A-Z]//g; s/^[0-9]+ //' found | sort | uniq -c >kinds
		handlers=$(printf 'h%.0s' $(seq $calls))
		awk -v h="$handlers" '$2 != "b" h "b" && $2 != "bb" h && $2 != "bb" { exit 1 }' kinds ||
			fail "$program: $(cut -c 1-60 kinds)"
		n=$(awk 'length($2) > 2 { n += $1 } END { print n }' kinds)
		[ "$n" -eq "$(cat met)" ] || fail "$program: $n handlers in $(cat met) instructions"
		[ $program = pg ] || awk '{ n = gsub("[A-Z]", "", $2); if (n != length($2)) exit 1 }' found ||
			fail "$program: an entry without an exit"
	done
done
exit 0
