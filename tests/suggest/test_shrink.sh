#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt suggest` names the lines of a critical section that need no lock, by the flow of its machine code: before
# the first conflicting access and behind the last one on every path, through loops, branches and calls, as whole
# statements. Lines that were not executed are named as such.
. "$GM_TOP/tests/access/common.sh"
need jq
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
[ -e "$GM_BUILD/libaccess_step.so" ] || skip "machine code is not read: libzydis-dev is missing"
# shellcheck disable=SC2034 # for instrumented()
programs=$GM_TOP/tests/suggest/programs
shapes=$programs/shapes.c

mkdir traced bare
instrumented shapes gcc
mv shapes traced
record_all a traced/shapes >out 2>&1 || fail "record: $(cat out)"
"$CC" -O1 -g -pthread -o bare/shapes "$shapes" || fail "cannot build shapes"
"$gprof_mt" record -q -o t --set sync.mode=all --set sample.hz=1000 -- bare/shapes >out 2>&1 || fail "record: $(cat out)"
"$gprof_mt" suggest --runs 2 --format json a t >json 2>err || fail "suggest: $(cat err)"

# line TEXT: its number
line()
{
	grep -nF -- "$1" "$shapes" | head -n 1 | cut -d: -f1
}

# told NAME: what is told of the lines of the function, as a suggestion, or in a note since samples are few or the gain
# is small
told()
{
	jq -r --arg name "$1 (shapes.c:" '
		[.suggestions[] | select(.pattern == "long section" and (.action | contains($name))) | .action] +
		[.notes[].note | select(contains($name) and contains("need not be in the section"))] | join("; ")' json
}

# moves NAME LINES: these lines may be moved
moves()
{
	local told
	told=$(told "$1")
	[ -n "$told" ] || [ -z "$may_lack" ] || return 0
	grep -qE "(^|[^0-9])($2)([^0-9-]|\$)" <<<"$told" || fail "$1: expected $2: $told: $(cat json)"
	n_told=$((n_told + 1))
}
n_told=0 may_lack=

# In the order of the gain, the functions whose sections have most time to lose are among the suggestions.
jq -e '[.suggestions[] | select(.pattern == "long section") | .lock] | index("edges_lock")' json >/dev/null ||
	fail "edges: $(cat json)"
jq -e '.suggestions[] | select(.lock == "edges_lock") | .change_pct < 0 and .data == "edges_count, edges_total"' json >/dev/null ||
	fail "edges: $(cat json)"
source_of=$(jq -r '.suggestions[] | select(.lock == "edges_lock") | .sites[0].source' json)
grep -q "^^ *$(line 'edges before') " <<<"$source_of" && grep -q "^v *$(line 'edges behind') " <<<"$source_of" ||
	fail "marks: $source_of"
all_moves()
{
	moves edges "$(line 'edges before') before the lock, and line $(line 'edges behind') behind|$(line 'edges before'), $(line 'edges behind')"
	moves called "$(line 'called before')"
	moves nested "$(line 'nested before')"
	moves unseen "$(($(line 'unseen not executed') - 1))-$(line 'unseen before')"
	same "lines of looped, branched and full" "" "$(told looped)$(told branched)$(told full)"
}

all_moves
same "movable lines" "lines $(line 'edges before'), $(line 'edges behind')" \
	"$(jq -r '.suggestions[] | select(.lock == "edges_lock") | .sites[0].movable' json)"

# A line that was not executed may access other memory: said if it is suggested.
jq -e --arg line "line $(line 'unseen not executed'): not seen executing" '
	[.suggestions[] | select(.lock == "unseen_lock")] | all(.not_exercised | contains($line))' json >/dev/null ||
	fail "unseen: $(cat json)"
jq -e '[.suggestions[] | select(.lock == "edges_lock" or .lock == "nested_lock") |
	.not_exercised | contains("not seen executing")] | any | not' json >/dev/null || fail "executed lines: $(cat json)"

# By single steps of the program as it is, the same. Sections that were not stepped as a whole leave out their site.
"$CC" -O1 -g -pthread -DN_ITERATIONS=20 -o bare/shapes "$shapes" || fail "cannot build short shapes"
"$gprof_mt" record -q -o stepped --accesses=sampled --set access.budget=100 --set sync.mode=all -- bare/shapes >out 2>&1 ||
	fail "record: $(cat out)"
"$gprof_mt" suggest --runs 2 --format json stepped >json 2>err || fail "stepped: $(cat err)"
n_told=0 may_lack=1
all_moves
[ "$n_told" -gt 0 ] || fail "stepped: no lines: $(cat json)"
jq -r '.suggestions[] | select(.lock == "unseen_lock") | .sites[0].source' json >source
! grep . source >/dev/null || grep -q "^\* *$(line 'unseen_count++') " source || fail "stepped: $(cat source)"
