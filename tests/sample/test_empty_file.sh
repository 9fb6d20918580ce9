#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The first sample of a program without calls creates the file of counts. A program that ends meanwhile leaves an empty
# file, which is no damage; a program with many samples cannot have left one.
. "$GM_TOP/tests/lib.sh"

cat >burn.c <<-'C'
	#include <stdlib.h>
	#include <time.h>

	int main(int argc, char **argv)
	{
		clock_t end = argc > 1 ? atoi(argv[1]) * (CLOCKS_PER_SEC / 1000) : 0;

		while (clock() < end)
			;
		return 0;
	}
C
"$CC" -O1 -g -o burn burn.c || fail "cannot compile"

# empty HZ MS: records the program with samples, and empties or makes the file of its counts
empty()
{
	rm -rf d
	"$gprof_mt" record -q -o d --set sample.hz="$1" --set kernel.source=none ./burn "$2" 2>err || fail "record: $(cat err)"
	pid=$(basename "$(dirname "$(echo d/*/threads)")")
	: >"d/$pid/calls"
	chmod 600 "d/$pid/calls"
}

empty 1 10
"$gprof_mt" report -i d summary >out 2>err || fail "an early end: exit status $?: $(cat err)"
! grep -q "empty" out err || fail "an early end is reported as damage: $(cat out err)"
empty 1000 200
! "$gprof_mt" report -i d summary >out 2>err || fail "a file without its samples is not reported"
grep -q "calls: cut short: the file is empty" err || fail "expected the damage, found: $(cat err)"
