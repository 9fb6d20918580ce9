#!/bin/bash
# SPDX-License-Identifier: MIT
# A signal handler interrupts a recording after any instruction, forks, and makes calls of its own, few or so
# many that packet and file change: every record is complete and in time order.
. "$GM_TOP/tests/calls/common.sh"

# Offsets of mcount.S and history.S from mcount.
ranges=$(nm -S "$GM_BUILD/libgmon_mt.so" | awk '
	$4 == "mcount" { base = $1 }
	$4 ~ /^(mcount|__fentry__|__return__|gm_count_miss|gm_history_call|gm_history_return)$/ {
		start[$4] = $1; size[$4] = $2 }
	END { for (name in start) print base, start[name], size[name] }' |
	while read -r base start size; do
		echo $((0x$start - 0x$base)) $((0x$start - 0x$base + 0x$size))
	done)
[ "$(wc -l <<<"$ranges")" -eq 6 ] || fail "functions not found: $ranges"

build_from pg steps.c -pg
build_from exits steps.c -pg -mfentry -minstrument-return=call
configure "buffer = 4K"
for calls in 1 520; do
	for program in pg exits; do
		# shellcheck disable=SC2086 # the numbers are split on purpose
		fresh timeout 120 ./$program $calls $ranges >met || fail "$program: exit status $?"
		least=50
		[ $program = pg ] || least=90
		[ "$(cat met)" -ge $least ] || fail "$program: expected at least $least instructions, got $(cat met)"
		records ./$program >found || fail "$program"
		# Only entries: b, then b and the handler's in either order; no handler entries if all of b
		# was on the slow path.
		python3 -c '
import re, sys
calls, met, program = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
_, letters = sys.stdin.read().split()
entries = re.sub("[A-Z]", "", letters)
handlers = "h{%d}" % calls
if not re.fullmatch(f"(b(b{handlers}|{handlers}b|b))+", entries):
    sys.exit("not in order: " + entries[:200])
if entries.count("h") != calls * met:
    sys.exit("not all calls by the handlers: %d" % entries.count("h"))
if program == "exits" and any(letters.count(x) != letters.count(x.upper()) for x in "bh"):
    sys.exit("an entry without an exit")
' $calls "$(cat met)" $program <found || fail "$program, $calls calls"
	done
done
exit 0
