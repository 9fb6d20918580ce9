#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt predict ulcp` of programs whose sections contend or not, in one capture and in two; its tables, its model,
# and captures that lack what it needs.
. "$GM_TOP/tests/access/common.sh"
need jq
# shellcheck disable=SC2034 # for instrumented() and bare()
programs=$GM_TOP/tests/replay/programs

# record_both NAME: records ./NAME, built without and with instrumentation, into NAME.timing and NAME.accesses
record_both()
{
	instrumented "$1" gcc
	bare "$1" gcc
	record_all "$1.timing" "./$1.bare" >out 2>&1 || fail "$1: $(cat out)"
	record_all "$1.accesses" "./$1" >out 2>&1 || fail "$1: $(cat out)"
}

# predict ARG...: the prediction, in JSON, into the file `got`
predict()
{
	"$gprof_mt" predict ulcp --runs 3 --format json "$@" >got 2>err || fail "predict $*: $(cat err)"
}

# expect TEXT FILTER
expect()
{
	jq -e "$2" got >/dev/null || fail "$1: $(cat got)"
}

# losses_are_explained: a note tells why gains are below 0, if any is
losses_are_explained()
{
	expect "gains below 0" '([.ulcp_regions[] | select(.gain_ns != null and .gain_ns < 0)] | length) as $n |
		[.notes[].note | select(startswith("rows whose gain is below 0: "))] as $notes |
		if $n > 0 then $notes == [$notes[0]] and ($notes[0] | startswith("rows whose gain is below 0: \($n),")) else $notes == [] end'
}

# skeletons ARG...: the same with real threads; false if the machine is so busy that a run takes too long
skeletons()
{
	"$gprof_mt" predict ulcp --runs 2 --engine skeleton --format json "$@" >got 2>err && return
	grep -q 'the replay has not ended after' err || fail "skeletons $*: $(cat err)"
	echo "too busy for skeletons: $(cat err)"
	return 1
}

# refused STATUS TEXT WORD...
refused()
{
	local status=$1 text=$2
	shift 2
	"$gprof_mt" predict "$@" >out 2>err
	same "$*: exit status" "$status" $?
	same "$*: number of lines" 1 "$(wc -l <err)"
	same "$*: output" "" "$(cat out)"
	grep -qF -- "$text" err || fail "$*: expected $text, got $(cat err)"
}

# Each thread adds to numbers of its own: no two sections contend, and without the lock nothing is waited for.
record_both pair_statistics
for captures in 'pair_statistics.accesses' 'pair_statistics.timing pair_statistics.accesses'; do
	read -ra captures <<<"$captures"
	predict "${captures[@]}"
	losses_are_explained
	expect "pairs" '.ulcp_sections[0] | .locks == 1 and .sections == 10000 and .contending == 0 and .unknown == 0
		and .unnecessary > 0'
	expect "orders" '[.ulcp_times[].order] == ["recorded", "free"] and (.ulcp_times[0].t_rw_ns != null)'
	expect "times" 'all(.ulcp_times[]; .with_ns > 0 and .without_ns > 0 and .with_sigma_pct != null
		and .t_pd_ns == .with_ns - .without_ns)'
	expect "the same result in both orders" '.ulcp_times[0].without_ns == .ulcp_times[1].without_ns'
	expect "the region" '.ulcp_regions | length == 1 and .[0].lock == "sums_lock"
		and (.[0].first | test("^run \\(pair_statistics.c:[0-9]+-[0-9]+\\)$")) and .[0].first == .[0].second'
	expect "the pairs of the region" '.ulcp_regions[0].pairs == .ulcp_sections[0].unnecessary'
	expect "fidelity" '[.notes[].note | select(startswith("fidelity: recorded"))] | length == 2'
	expect "the proof" 'any(.notes[]; .note | test("proved: in the recorded order, 0 waits"))'
done
! grep -q distorts got || fail "two captures: $(cat got)"

# All sections change one list: nothing is unnecessary.
record_both pair_section
predict pair_section.timing pair_section.accesses
expect "pairs that contend" '.ulcp_sections[0] | .unnecessary == 0 and .contending > 0 and .unknown == 0'
expect "nothing is lost" '.ulcp_times[0].t_pd_ns == 0 and (.ulcp_regions | length == 0)'

# The model without the contention is one of `replay`, with the same run time.
predict --write model pair_statistics.timing pair_statistics.accesses
without=$(jq '.ulcp_times[0].without_ns' got)
cpus=$(sed -n 's/^cpus //p' model)
"$gprof_mt" replay --runs 3 --cpus "$cpus" --format json model >got || fail "replay: $(cat got)"
same "run time of the model" "$without" "$(jq '.replays[0].run_ns' got)"
! grep -qE '^[0-9]+ (try)?(lock|unlock)' model || fail "the model has locks"

# Text, CSV and a page have the same tables.
"$gprof_mt" predict ulcp --runs 2 pair_statistics.timing pair_statistics.accesses >text 2>err || fail "text: $(cat err)"
for words in 'Lost to unnecessary lock contention: ' 'Pairs of code regions'; do
	grep -q "$words" text || fail "text: expected $words, got $(cat text)"
done
"$gprof_mt" predict ulcp --runs 2 --format csv --output csv pair_statistics.timing pair_statistics.accesses 2>err ||
	fail "csv: $(cat err)"
same "files" "ulcp_regions.csv ulcp_sections.csv ulcp_times.csv" "$(cd csv && echo *)"
"$gprof_mt" predict ulcp --runs 2 --format html -o page.html pair_statistics.timing pair_statistics.accesses 2>err ||
	fail "html: $(cat err)"
for words in 'Unnecessary lock contention' sums_lock; do
	grep -q "$words" page.html || fail "page: no $words"
done
if skeletons pair_statistics.timing pair_statistics.accesses; then
	expect "skeletons" 'any(.notes[]; .note | test("replayed in recorded order"))'
fi

# Auxiliary locks of sections in contention keep the order, too.
if skeletons --locksets pair_section.timing pair_section.accesses; then
	expect "locksets" '[.ulcp_locksets[] | .how] == ["waits", "locksets", "locksets, dynamic"]
		and .ulcp_locksets[0].locks == 0 and .ulcp_locksets[0].cost_pct == null
		and all(.ulcp_locksets[1:][]; .locks > 0 and .run_ns > 0 and .cost_pct != null)'
fi
refused 2 "--locksets needs --engine=skeleton" ulcp --locksets pair_section.accesses

# Captures that do not have or do not fit what is needed.
refused 1 "has no memory accesses of critical sections" ulcp pair_statistics.timing
refused 1 "the runs differ: acquisition 1 of thread 1" ulcp pair_section.timing pair_statistics.accesses
refused 1 "is a model, which lacks the accesses" ulcp model
refused 1 "is a model, which lacks the accesses" ulcp pair_statistics.timing model
refused 1 nowhere ulcp nowhere
refused 2 "expected the directories of one capture or two" ulcp
refused 2 "--cost is an option of the method occ" ulcp --cost 10 pair_statistics.accesses
refused 2 "--runs is an option of the method ulcp" occ --runs 10 pair_statistics.accesses
refused 2 "unknown method 'none' (expected occ or ulcp)" none pair_statistics.accesses
refused 2 "invalid --engine 'live' (expected simulation, skeleton)" ulcp --engine live pair_statistics.accesses
mkfifo pipe
refused 1 "pipe: not a regular file" ulcp --write pipe pair_statistics.accesses
[ -p pipe ] || fail "--write replaced a pipe"
exit 0
