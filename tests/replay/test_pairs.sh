#!/bin/bash
# SPDX-License-Identifier: MIT
# Pairs of programs: the predicted gain of a change beside the real one. Real run times depend on the load of the
# machine, so that they are printed, and only the signs, and coarse limits of the prediction, are checked.
. "$GM_TOP/tests/lib.sh"
need jq
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"

# pair NAME CHANGE: records the slow program, and compares the prediction with runs of both
pair()
{
	local name=$1 change=$2 rate
	"$CC" -O1 -g -pthread -o "$name" "$programs/pair_$name.c" && "$CC" -O1 -g -pthread -DFIXED -o "$name.fixed" \
		"$programs/pair_$name.c" || fail "cannot build $name"
	"$gprof_mt" record -q -o "$name.d" --set sync.mode=all "./$name" || fail "record $name"
	"$gprof_mt" replay --runs 5 --format json --what-if "$change" "$name.d" -- "./$name.fixed" >json 2>err ||
		fail "$name: $(cat err)"
	rate=$(jq -r '.truth[0] | "predicted \(.predicted_pct | round) %, real \(.real_pct | round) +/- \(
		.real_error_pct | round) %, error \(.error_pct | round)"' json)
	echo "$name: $change: $rate; $(jq -r '.notes[0].note' json)"
	jq -e '.truth[0] | .predicted_pct < 0 and .predicted_pct > -85 and .before_ns > 0 and .after_ns > 0' json \
		>/dev/null || fail "$name: $(cat json)"
	"$gprof_mt" record -q -o "$name.fixed.d" --set sync.mode=all "./$name.fixed" || fail "record $name.fixed"
	"$gprof_mt" replay --format json --what-if "$change" --against "$name.fixed.d" "$name.d" >json 2>err ||
		fail "$name --against: $(cat err)"
	jq -e '.truth[0] | .real_error_pct == null and .after_ns > 0' json >/dev/null || fail "$name --against: $(cat json)"
}

# refused STATUS TEXT WORD...
refused()
{
	local status=$1 text=$2
	shift 2
	"$gprof_mt" replay "$@" >out 2>err
	same "$*: exit status" "$status" $?
	same "$*: number of lines" 1 "$(wc -l <err)"
	grep -qF -- "$text" err || fail "$*: expected $text, got $(cat err)"
}

pair buckets 'drop table_lock'
pair readers 'rwlock config_lock readers=look_up'
pair section 'shrink append to 20 %'
pair statistics 'drop sums_lock'
pair queues 'split lists_lock by site'

# Nearly all of the CPU time is in the function of the threads.
"$gprof_mt" replay --what-if 'faster append by 50 %' --format json section.d >json 2>err || fail "faster: $(cat err)"
share=$(jq -r '.notes[].note' json | sed -n 's/by samples, \([0-9]*\).* is in append and.*/\1/p')
echo "faster append by 50 %: $share % of the CPU time, $(jq '.replays[0].change_pct | round' json) %"
[ "$share" -ge 50 ] && jq -e '.replays[0].change_pct < -3' json >/dev/null || fail "faster: $(cat json)"
refused 1 "no sample is in this function" --what-if 'faster nothing by 50 %' section.d

# The fixed program itself gains nothing by the change, and the lock leads the ranking of the slow one.
"$gprof_mt" replay --rank --format json buckets.d >json || fail "--rank: $(cat json)"
same "the first of the ranking" table_lock "$(jq -r '.rank[0].lock' json)"
"$gprof_mt" replay --rank --format json statistics.fixed.d >json || fail "--rank: $(cat json)"
same "the ranking of a program without locks" 0 "$(jq '.rank | length' json)"

refused 2 "needs --what-if" --against buckets.fixed.d buckets.d
refused 2 "exclude each other" --what-if 'drop table_lock' --against buckets.fixed.d buckets.d -- ./buckets.fixed
refused 2 "exclude each other" --what-if 'drop table_lock' --rank buckets.d
refused 1 "nowhere" --what-if 'drop table_lock' --against nowhere buckets.d
refused 1 "exit status 1" --what-if 'drop table_lock' buckets.d -- false
refused 1 "no-such-program" --what-if 'drop table_lock' buckets.d -- ./no-such-program
"$gprof_mt" replay --write model buckets.d >/dev/null
refused 1 "does not name the recorded command: give the capture" --what-if 'drop table_lock' model -- ./buckets.fixed
mkdir elsewhere && cd elsewhere || fail "cd"
refused 1 "change to it" --what-if 'drop table_lock' ../buckets.d -- true
