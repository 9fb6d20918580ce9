#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt replay --what-if 'faster FUNCTION by F %'` of a program whose calls are recorded: the part of the CPU time
# by its history of calls, with two ways to record returns, beside that by samples; and the prediction beside the
# program with a faster function. Real run times depend on the load of the machine, so that they are printed only.
. "$GM_TOP/tests/lib.sh"
need jq

# share HOW FUNCTION: prints the part of the CPU time in it, in percent, by the notes of the last replay
share()
{
	jq -r '.notes[].note' json | sed -n "s/by $1, \([0-9]*\).* % of the CPU time is in $2 and the functions.*/\1/p"
}

# record_history DIR PROGRAM STACKS: with calls, and with or without samples
record_history()
{
	"$gprof_mt" record -q -o "$1" --set sync.mode=all --set calls.mode=history --set "sample.stacks=$3" "./$2" || fail "record $2"
}

# faster DIR FUNCTION [ARGUMENT...]: predicts that it takes half of its time
faster()
{
	"$gprof_mt" replay --runs 3 --format json --what-if "faster $2 by 50 %" "$1" "${@:3}" >json 2>err ||
		fail "faster $2 of $1: $(cat err)"
}

# refused TEXT DIR FUNCTION
refused()
{
	"$gprof_mt" replay --what-if "faster $3 by 50 %" "$2" >out 2>err
	same "faster $3 of $2: exit status" 1 $?
	same "faster $3 of $2: number of lines" 1 "$(wc -l <err)"
	grep -qF -- "$1" err || fail "faster $3 of $2: expected $1, got $(cat err)"
}

for way in "exits -pg -mfentry -minstrument-return=call" "functions -finstrument-functions -fno-inline"; do
	read -r name flags <<<"$way"
	for fixed in "" -DFIXED; do
		# shellcheck disable=SC2086
		"$CC" -O1 -g -pthread $flags $fixed -o "$name$fixed" "$programs/parser.c" "${link[@]}" || fail "cannot build $name"
	done
	record_history "$name.d" "$name" off
	faster "$name.d" parse -- "./$name-DFIXED"
	rate=$(share "the history of calls" parse)
	echo "$name: $rate % in parse; $(jq -r '.truth[0] | "predicted \(.predicted_pct) %, real \(.real_pct) +/- \(
		.real_error_pct) %"' json)"
	# 80 of 120 us of each round, and some time at the begin of the program
	[ "$rate" -ge 50 ] && [ "$rate" -le 75 ] || fail "$name: share of parse: $rate %"
	jq -e '.replays[0].change_pct | . < -10 and . > -40' json >/dev/null || fail "$name: $(cat json)"
	faster "$name.d" run
	[ "$(share "the history of calls" run)" -ge 85 ] || fail "$name: a function that calls all others: $(cat json)"
	refused "the history has no call of this function" "$name.d" nothing
done

# The call of an inlined function seems to end the function that contains it.
"$CC" -O1 -g -pthread -finstrument-functions -o inlined "$programs/parser.c" "${link[@]}" || fail "cannot build inlined"
record_history inlined.d inlined off
faster inlined.d parse
jq -r '.notes[].note' json | grep -q "returns are from functions whose calls have ended.*-fno-inline" ||
	fail "inlined functions: $(cat json)"

# Samples of the same function, in a program that records no calls, tell about the same.
"$CC" -O1 -g -pthread -o plain "$programs/parser.c" || fail "cannot build plain"
"$gprof_mt" record -q -o plain.d --set sync.mode=all --set sample.stacks=on ./plain || fail "record plain"
faster plain.d parse
by_samples=$(share samples parse)
echo "by samples: $by_samples % in parse"
[ $((by_samples - rate)) -le 15 ] && [ $((rate - by_samples)) -le 15 ] || fail "samples: $by_samples %, calls: $rate %"

# A function that the compiler has inlined has samples, and no calls.
record_history both.d exits on
faster both.d work
jq -r '.notes[].note' json | grep -q "by samples, .* is in work" || fail "an inlined function: $(cat json)"

# Without returns, nobody knows when calls end.
"$CC" -O1 -g -pthread -pg -o entries "$programs/parser.c" "${link[@]}" || fail "cannot build entries"
record_history entries.d entries off
refused "calls.mode=history and returns" entries.d parse
