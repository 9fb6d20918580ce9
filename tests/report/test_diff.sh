#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt diff`: known differences of two runs, by thread, function, object and site; all figures agree with
# the two reports; a capture and itself; notes on figures that cannot be compared.
. "$GM_TOP/tests/lib.sh"
need jq python3
source=$GM_TOP/tests/report/programs/diff/counts.c
"$CC" -O1 -g -pg -Wl,--build-id -o counts "$source" -pthread || fail "cannot compile"

# make_capture DIR ARG...: records without scheduling events and samples, which differ between runs.
make_capture()
{
	local dir=$1
	shift
	"$gprof_mt" record -q -o "$dir" --set kernel.source=none --set sample.hz=0 "$@" >out 2>err || fail "record: $(cat out err)"
}
make_capture a ./counts 3 1000 40
make_capture b ./counts 4 1500 60 more

# holds JQ_EXPRESSION FILE
holds()
{
	jq -e "$1" "$2" >/dev/null || fail "expected $1 in $(cat "$2")"
}
"$gprof_mt" diff --format json a b summary threads sync locks flat callgraph >json 2>err || fail "diff: $(cat err)"
[ ! -s err ] || fail "stderr: $(cat err)"
step='.functions[] | select(.name == "step" and .thread == '
holds "$step\"first\") | .calls_a == 1000 and .calls_b == 1500 and .calls_change == 500 and .calls_ratio == 1.5 and .rows_b == 1" json
holds "$step\"next\") | .calls_a == 2000 and .calls_b == 4500 and .calls_change == 2500 and .rows_a == 2 and .rows_b == 3" json
holds '[.functions[] | select(.name == "extra") | .in] | unique == ["only B"]' json
holds '[.functions[] | select(.name == "extra") | .calls_a, .calls_change] | unique == [null]' json
holds '.functions[0].name == "step" and .functions[0].thread == "next"' json
holds '.locks[] | select(.group == "lock") | .acquired_a == 120 and .acquired_b == 240 and .acquired_change == 120' json
holds '[.["locks.sites"][] | select(.locks_group == "lock")] | length == 1 and (.[0].site | startswith("take (")) and .[0].calls_change == 120' json
holds '.threads[] | select(.name == "more") | .in == "only B" and .group == "run_more"' json
holds '[.notes[] | select(.section == "captures")] | length == 1 and (.[0].note | startswith("different commands"))' json
# With one CPU the captures are read one after the other.
cpu=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
taskset -c "$cpu" "$gprof_mt" diff --format json a b summary threads sync locks flat callgraph | diff - json >differ ||
	fail "with one CPU: $(head -20 differ)"
python3 "$GM_TOP/tests/report/programs/diff/compare_reports.py" "$gprof_mt" a b || fail "diff a b differs from the reports"
python3 "$GM_TOP/tests/report/programs/diff/compare_reports.py" "$gprof_mt" b a || fail "diff b a differs from the reports"

# The same program with the same arguments: other ids and addresses, the same counts.
make_capture c ./counts 3 1000 40
"$gprof_mt" diff --format json a c flat locks >json 2>err || fail "diff: $(cat err)"
holds '[.functions[], .locks[], .["locks.sites"][] | .in] | unique == ["both"]' json
holds '[.functions[] | .calls_change // 0] + [.locks[] | .acquired_change // 0] | unique == [0]' json

# The program twice, one process after the other: twice the counts, and a note with the reason.
make_capture twice sh -c './counts 3 1000 40; ./counts 3 1000 40'
"$gprof_mt" diff --format json a twice locks >json 2>err || fail "diff: $(cat err)"
holds '.locks[] | select(.group == "lock") | .acquired_a == 120 and .acquired_b == 240 and .rows_a == 1 and .rows_b == 2' json
holds '[.notes[].note | select(startswith("several processes or programs, 1 in A, "))] | length == 1' json

# A capture and itself.
sections=$("$gprof_mt" report --help | grep -oE '(^|  )[* ] [a-z][a-z-]*  ' | tr -d '* ')
# shellcheck disable=SC2086 # the words are split on purpose
"$gprof_mt" diff --format json b b $sections >json 2>err || fail "diff: $(cat err)"
holds '[to_entries[] | select(.key != "schema" and .key != "notes" and .key != "captures") | .value[] | to_entries[] |
	select(.key | endswith("_change")) | .value] | unique | . == [null, 0] or . == [0]' json
holds '[to_entries[] | select(.key != "schema" and .key != "notes" and .key != "captures") | .value[] | .in] | unique == ["both"]' json
# shellcheck disable=SC2086
"$gprof_mt" diff b b $sections >text 2>err || fail "diff: $(cat err)"
[ "$(grep -c '^  none$' text)" = "$(grep -c '^[A-Z]' text | awk '{ print $1 - 1 }')" ] || fail "expected no change: $(cat text)"

# Text has the largest changes and a note on omitted ones; so with --min-change and --top.
"$gprof_mt" diff a b flat >text 2>err || fail "diff: $(cat err)"
grep -Eq '^ +run +next +step +both +2 +3 +2000 +4500 +\+2500 +2\.25' text || fail "expected step in $(cat text)"
"$gprof_mt" diff --format json --min-change 60% a b flat >json || fail "--min-change"
holds '[.functions[] | select(.name == "step") | .thread] == ["next"]' json
holds '[.notes[].note | select(startswith("calls changed by less than 60 %"))] | length == 1' json
"$gprof_mt" diff --format json --top 1 a b flat sync >json || fail "--top"
holds '(.functions | length) == 1 and (.sync | length) == 1' json
"$gprof_mt" diff --format json --thread more a b threads >json || fail "--thread"
holds '[.threads[].name] == ["more"]' json
holds '[.notes[].note | select(startswith("a: no thread has a name that matches"))] | length == 1' json

# Source lines that moved.
(echo; echo; cat "$source") >counts.c
mkdir moved && "$CC" -O1 -g -pg -Wl,--build-id -o moved/counts counts.c -pthread || fail "cannot compile"
make_capture m moved/counts 3 1000 40
"$gprof_mt" diff --format json a m locks >json || fail "diff"
holds '[.["locks.sites"][] | select(.locks_group == "lock") | .in] | sort == ["only A", "only B"]' json
holds '[.notes[].note | select(contains("was rebuilt"))] | length == 1' json
"$gprof_mt" diff --format json --no-lines a m locks >json || fail "--no-lines"
holds '[.["locks.sites"][] | select(.locks_group == "lock") | .in, .site] == ["both", "take (counts.c)"]' json

# Another program, recorded with another configuration.
make_capture p --profile applic-only --set sample.hz=50 "$GM_BUILD/examples/philosophers" 2 2
"$gprof_mt" diff a p >text || fail "diff"
for note in "different programs: counts in A, philosophers in B" "different sample.hz: 0 in A, 50 in B" \
	"different profile.level: full-sched in A, applic-only in B"; do
	grep -qF "note: $note" text || fail "not said: $note in $(cat text)"
done
"$gprof_mt" diff --format csv a p threads >csv 2>err || fail "diff"
grep -qF "different programs" err || fail "not said: $(cat err)"

# Damage is reported with the name of the damaged run.
cp -r b cut
stream=$(find cut -path '*/user/*' -name 'stream*' -size +0 | sort | head -n 1)
truncate -s 50 "$stream" || fail "no stream in $(find cut)"
"$gprof_mt" diff a cut >out 2>err
[ $? = 1 ] && [ -s out ] && grep -q "^gprof-mt: B: " err && ! grep -vq "^gprof-mt: B: " err || fail "damage: $(cat err)"

echo text >file
mkdir empty
fails 2 "expected the directories of two captures" diff a
fails 2 "no section 'lock'" diff a b lock
fails 2 "--tid: thread ids differ between runs" diff --tid 1 a b
fails 2 "--object 0x12: addresses differ between runs" diff --object 0x12 a b
fails 2 "--min-change x: not a percentage" diff --min-change x a b
fails 2 "--min-change nan: not a percentage" diff --min-change nan a b
fails 2 "--top 1.5: not a number" diff --top 1.5 a b
fails 2 "csv contains one table" diff --format csv a b
fails 1 "nowhere: " diff a nowhere
fails 1 "nowhere: " diff nowhere a
fails 1 "nowhere: " diff nowhere file
fails 1 "empty is not a capture" diff a empty
fails 1 "file is not a capture" diff file a
fails 1 "no thread has a name that matches 'cook'" diff --thread cook a b
fails 1 "no table 'lock'" diff --format csv --table lock a b
