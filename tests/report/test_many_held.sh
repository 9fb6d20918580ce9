#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread that holds 5,000 locks at once, and releases them in the order in which it acquired them, costs the reports
# at most twice the instructions of one that holds 100, with the same locks and the same number of operations.
. "$GM_TOP/tests/lib.sh"
need valgrind
! with_sanitizers || skip "valgrind cannot run a sanitized program"

cat >hold.c <<'END'
#include <pthread.h>
#include <stdlib.h>
enum { LOCKS = 5000, ROUNDS = 2 };
static pthread_mutex_t locks[LOCKS];
int main(int argc, char **argv)
{
	int at_once = atoi(argv[1]);
	for (int i = 0; i < LOCKS; i++)
		pthread_mutex_init(&locks[i], NULL);
	for (int first = 0; first < ROUNDS * LOCKS; first += at_once) {
		for (int i = 0; i < at_once; i++)
			pthread_mutex_lock(&locks[(first + i) % LOCKS]);
		for (int i = 0; i < at_once; i++)
			pthread_mutex_unlock(&locks[(first + i) % LOCKS]);
	}
	return argc - 2;
}
END
"$CC" -O2 -g -o hold hold.c -pthread || fail "cannot compile"

# instructions AT_ONCE SECTION...
instructions()
{
	local at_once=$1
	shift
	[ -e "$at_once" ] || "$gprof_mt" record -q -o "$at_once" --set sync.mode=all -- ./hold "$at_once" 2>err ||
		fail "record: $(cat err)"
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$GM_BUILD/gprof-mt" report -q -i "$at_once" --no-cache \
		--format json "$@" 2>&1 >"$at_once.json" | sed -n 's/.*Collected : //p'
}

for section in blame bottlenecks; do
	few=$(instructions 100 $section)
	many=$(instructions 5000 $section)
	echo "$section: $few instructions with 100 locks held at once, $many with 5000"
	[ "${few:-0}" -gt 0 ] && [ "${many:-0}" -gt 0 ] || fail "callgrind did not count"
	[ "$many" -le $((2 * few)) ] || fail "$section: expected at most twice the instructions: $few, $many"
done
jq -e '.bottlenecks | length == 1 and .[0].instances == 10000' 5000.json >/dev/null ||
	fail "bottlenecks: $(jq -c .bottlenecks 5000.json)"
