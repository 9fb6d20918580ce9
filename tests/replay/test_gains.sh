#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt report --gain`: the gains beside blame and critical sections are those that `replay` predicts for the same
# changes, and are missing, with the reason, where nothing can be replayed.
. "$GM_TOP/tests/lib.sh"
need jq
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"

"$CC" -O1 -g -pthread -o buckets "$programs/pair_buckets.c" || fail "cannot build buckets"
"$gprof_mt" record -q -o d --set sync.mode=all ./buckets || fail "record"

# predicted CHANGE: the predicted change of the run time, in percent
predicted()
{
	"$gprof_mt" replay --format json --what-if "$1" d | jq '.replays[0].change_pct' || fail "replay: $1"
}

# near WHAT EXPECTED ACTUAL: each replay measures the cost of recording anew
near()
{
	jq -en "$2 - $3 | fabs < 2" >/dev/null || fail "$1: expected about $2, got $3"
}

"$gprof_mt" report -i d --format json --gain blame bottlenecks >json 2>err || fail "report --gain: $(cat err)"
site=$(jq -r '.bottlenecks[] | select(.lock == "table_lock").entry' json)
dropped=$(predicted 'drop table_lock') halved=$(predicted "shrink $site to 50 %")
near "dropped, of sections" "$dropped" "$(jq '.bottlenecks[] | select(.lock == "table_lock").dropped_pct' json)"
near "halved, of sections" "$halved" "$(jq '.bottlenecks[] | select(.lock == "table_lock").halved_pct' json)"
near "dropped, of locks" "$dropped" "$(jq '.bottleneck_locks[] | select(.name == "table_lock").dropped_pct' json)"
near "dropped, by waiter" "$dropped" "$(jq '.blame_waiters | map(select(.name == "table_lock"))[0].dropped_pct' json)"
near "dropped, of blame" "$dropped" \
	"$(jq '.blame | map(select(.name == "table_lock" and .kind == "holder"))[0].dropped_pct' json)"
near "halved, of blame" "$halved" \
	"$(jq '.blame | map(select(.name == "table_lock" and .kind == "holder"))[0].halved_pct' json)"
same "gains of other objects" 0 "$(jq '[.blame[] | select(.type == "barrier" or .type == "thread") |
	select(.dropped_pct or .halved_pct)] | length' json)"
jq -e '[.notes[].note | select(startswith("fidelity: recorded "))] | length == 4' json >/dev/null ||
	fail "the fidelity of each table: $(cat json)"

# Other columns are as without gains, in each format.
"$gprof_mt" report -i d --format json blame bottlenecks >plain || fail "report"
same "other columns" "$(jq -S '[.blame, .bottlenecks, .bottleneck_locks]' plain)" \
	"$(jq -S '[.blame, .bottlenecks, .bottleneck_locks] | map(map(del(.dropped_pct, .halved_pct)))' json)"
"$gprof_mt" report -i d --format csv --table bottlenecks --gain bottlenecks >csv 2>err || fail "csv: $(cat err)"
same "columns in CSV" "lock,type,locks,entry,exit,dropped_pct,halved_pct,share_pct" "$(head -1 csv | cut -d, -f1-8)"
grep -q "^gprof-mt: bottlenecks: fidelity: " err || fail "notes of CSV: $(cat err)"
"$gprof_mt" report -i d --gain bottlenecks >text || fail "text"
grep -Eq '^ +lock .* dropped +halved +share' text && grep -Eq '^ +table_lock .* -[0-9.]+% ' text || fail "text: $(cat text)"
"$gprof_mt" report -i d --gain --top 1 --time 1ms~ bottlenecks >text || fail "--time: $(cat text)"
grep -q "steps before the selected time, which are left out: " text || fail "--time: $(cat text)"

# Without all operations, or of two processes, the report is as always, and a note tells why it has no gains.
"$gprof_mt" record -q -o waits --set sync.mode=contended ./buckets || fail "record waits"
"$gprof_mt" record -q -o two --set sync.mode=all sh -c './buckets; ./buckets' || fail "record two"
for why in "waits threads have only their waits recorded" "two processes were recorded, and one can be replayed"; do
	dir=${why%% *}
	"$gprof_mt" report -i "$dir" --format json --gain bottlenecks >json 2>err || fail "$dir: $(cat err)"
	jq -e '.bottlenecks | length > 0 and all(.dropped_pct == null and .halved_pct == null)' json >/dev/null ||
		fail "$dir: gains: $(cat json)"
	jq -r '.notes[].note' json | grep -q "no gains are predicted: .*${why#* }" || fail "$dir: notes: $(cat json)"
done

# Damage is told once.
cp -r d damaged && truncate -s 50 "$(find damaged -name 'stream_1_1')" || fail "no stream in $(find d)"
"$gprof_mt" report -i damaged bottlenecks >text 2>plain
same "status of a damaged capture" 1 $?
"$gprof_mt" report -i damaged --gain bottlenecks >text 2>err
same "the same with gains" 1 $?
same "lines about damage" "$(cat plain)" "$(cat err)"
[ -s err ] || fail "nothing tells that $(find damaged -name 'stream_1_1') is damaged"

"$gprof_mt" report -i d --gain locks >out 2>err
same "a section without gains" "2 gprof-mt report: --gain is for sections blame and bottlenecks; see \`gprof-mt report --help\`" \
	"$? $(cat err)"
"$gprof_mt" report -i d --gain --by suspect blame >out 2>err
same "a view without locks" "2 gprof-mt report: --gain and --by suspect exclude each other; see \`gprof-mt report --help\`" \
	"$? $(cat err)"
