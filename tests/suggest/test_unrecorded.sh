#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt suggest` says at each suggestion which code the lines call whose accesses are not recorded: functions of
# libraries, and of source files that were compiled without hooks.
. "$GM_TOP/tests/access/common.sh"
need jq
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
[ -e "$GM_BUILD/libaccess_step.so" ] || skip "machine code is not read: libzydis-dev is missing"
source=$GM_TOP/tests/suggest/programs/unrecorded.c

# line TEXT: its number
line()
{
	grep -nF -- "$1" "$source" | cut -d: -f1
}

# has TEXT FILE
has()
{
	grep -qF -- "$1" "$2" || fail "$how: expected $1: $(cat "$2"; cat json)"
}

cp "$source" plain.c
for how in -fno-plt -fplt; do
	"$CC" -O1 -g -DPLAIN -c -o plain.o plain.c && "$CC" -O1 -g "${access_cflags[@]}" "$how" -c -o unrecorded.o "$source" &&
		"$CC" -o unrecorded unrecorded.o plain.o "${access_link[@]}" -lm || fail "cannot build with $how"
	record_all a ./unrecorded >out 2>&1 || fail "record: $(cat out)"
	"$gprof_mt" suggest --format json a >json 2>err || fail "suggest: $(cat err)"

	# Only the lines that may be moved count.
	jq -r '(.suggestions[] | select(.pattern == "long section") | .action, .not_exercised), .notes[].note' json |
		grep 'accesses are not recorded of code that is called' >long || fail "$how: $(cat json)"
	for name in sin qsort plain; do
		has "$name (line $(line "calls $name"))" long
	done
	! grep -E 'cos|memset|recorded \(|helper|tsan|pthread' long || fail "$how: $(cat long)"

	# A lock that can be removed: all calls of its sections.
	jq -r '.suggestions[] | select(.lock == "null_lock") | .not_exercised' json >null
	has "tan (line $(line "calls tan"))" null
	! grep -F 'work (' null || fail "$how: $(cat null)"
done
