#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt replay --what-if` of captures with the accesses of critical sections: which sections share data, and which
# call sites are readers.
. "$GM_TOP/tests/access/common.sh"
need jq
# shellcheck disable=SC2034 # for instrumented()
programs=$GM_TOP/tests/replay/programs

# predicted DIR CHANGE: the prediction, in JSON, into the file `json`
predicted()
{
	"$gprof_mt" replay --format json --what-if "$2" "$1" >json 2>err || fail "$2: $(cat err)"
}

# Each of the 64 buckets is one data, as two threads use it: sections of one bucket still exclude each other.
instrumented pair_buckets gcc
record_all buckets ./pair_buckets >out 2>&1 || fail "record: $(cat out)"
predicted buckets 'split table_lock by object'
grep -q 'other runs may share other data under table_lock' json || fail "by object: $(cat json)"
"$gprof_mt" replay --write model buckets >/dev/null || fail "--write"
grep '^access' model | sort | uniq -c | sort -rn >units
same "data of the buckets: number, writers only" "64 64" "$(wc -l <units) $(grep -c write units)"
same "acquisitions" 10000 "$(grep -c '^access' model)"
predicted model 'split table_lock by object'
jq -e '.replays[0].change_pct < 0' json >/dev/null || fail "by object, from the model: $(cat json)"
"$gprof_mt" replay --rank --format json buckets >json || fail "--rank: $(cat json)"
jq -e '[.rank[].change] | contains(["split table_lock by object"])' json >/dev/null || fail "--rank: $(cat json)"

# Look-ups do not write the configuration, updates do.
instrumented pair_readers gcc
record_all readers ./pair_readers >out 2>&1 || fail "record: $(cat out)"
"$gprof_mt" replay --format json --what-if 'rwlock config_lock' readers >json 2>err || fail "rwlock: $(cat err)"
grep -q 'whose recorded sections write no shared data: 9374 sections' json || fail "rwlock: $(cat json)"
predicted readers 'rwlock config_lock readers=look_up'

# Two of 100 accesses of each section conflict, behind 40 others.
instrumented middle gcc
record_all middle.d ./middle >out 2>&1 || fail "record: $(cat out)"
site=$("$gprof_mt" replay --write model middle.d >/dev/null; sed -n 's/^site "\(run (.*\)"/\1/p' model | head -1)
predicted middle.d "shrink $site to conflicts"
part=$(jq -r '.notes[].note' json | sed -n 's/.*: \([0-9.]*\) % of the CPU time in its sections is from the first to the.*/\1/p')
awk -v part="$part" 'BEGIN { exit !(part > 1 && part < 4) }' || fail "part of the sections with conflicts: $part %: $(cat json)"
spans=$(grep '^access' model | cut -d' ' -f4- | sort | uniq -c | sort -rn | head -1 | awk '{ print $2, $3 }')
awk -v spans="$spans" 'BEGIN { split(spans, at, " "); exit !(at[1] > 350000 && at[2] < 450000) }' ||
	fail "place of the conflicts: $spans"
