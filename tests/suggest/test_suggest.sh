#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt suggest`: of slow programs whose fix is known, it names the fix's lock, action and lines first, and of fixed
# programs nothing. Predicted and real gains depend on the load of the machine, so that they are printed.
. "$GM_TOP/tests/access/common.sh"
need jq
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
# shellcheck disable=SC2034 # for instrumented()
programs=$GM_TOP/tests/replay/programs

# Without samples, the time of the lines of sections is not known, so that no shorter sections are suggested.
samples=sample.stacks=off

# captures NAME [FLAG...]: records pair_NAME with accesses, and without, as NAME.a and NAME.t
captures()
{
	local name=$1
	shift
	instrumented "pair_$name" gcc "$@"
	record_all "$name.a" "./pair_$name" >out 2>&1 || fail "record $name: $(cat out)"
	mkdir -p bare
	"$CC" -O1 -g -pthread "$@" -o "bare/pair_$name" "$programs/pair_$name.c" || fail "cannot build $name"
	"$gprof_mt" record -q -o "$name.t" --set sync.mode=all --set "$samples" -- "bare/pair_$name" >out 2>&1 || fail "record $name: $(cat out)"
}

# holds JQ_EXPRESSION
holds()
{
	jq -e "$1" json >/dev/null || fail "expected $1 in $(cat json)"
}

# suggested NAME LOCK PATTERN: this comes first
suggested()
{
	captures "$1"
	"$gprof_mt" suggest --format json "$1.a" "$1.t" >json 2>err || fail "suggest $1: $(cat err)"
	same "first suggestion of $1" "$2 $3" "$(jq -r '.suggestions[0] | "\(.lock) \(.pattern)"' json)"
	holds '.suggestions[0] | .change_pct < -1 and .pairs > 0 and .runs == 1 and .all_runs == 1 and .why == null'
}

# line NAME TEXT: the number of the line
line()
{
	grep -nF -- "$2" "$programs/pair_$1.c" | head -n 1 | cut -d: -f1
}

# time_of COMMAND: prints seconds, the median of three runs
time_of()
{
	python3 -c '
import subprocess, sys, time
def once():
    begin = time.monotonic()
    subprocess.run(sys.argv[1:], check=True)
    return time.monotonic() - begin
print(sorted(once() for _ in range(3))[1])' "$@" || fail "$*"
}

# gain NAME: prints the predicted gain beside the real one
gain()
{
	"$CC" -O1 -g -pthread -DFIXED -o "$1.fixed" "$programs/pair_$1.c" || fail "cannot build $1"
	jq -r --arg name "$1" --argjson slow "$(time_of "bare/pair_$1")" --argjson fixed "$(time_of "./$1.fixed")" '
		.suggestions[0] | (100 * ($fixed / $slow - 1)) as $real |
		"\($name): predicted \(.change_pct * 10 | round / 10) % (fidelity \(.fidelity_pct | round) %), real \(
		$real * 10 | round / 10) %, error \((.change_pct - $real) * 10 | round / 10)"' json
}

suggested statistics sums_lock null-shared
holds '.suggestions[0] | .action == "remove the lock" and .data == null and .reported_only == false'
holds ".suggestions[0].sites == [.suggestions[0].sites[0]] and (.suggestions[0].sites[0] | .role == \"no lock\" and
	.site == \"run (pair_statistics.c:$(line statistics 'lock(&sums_lock)'))\" and .sections == 10000)"
gain statistics

suggested queues lists_lock 'null-shared groups'
free=$(line queues 'pthread_mutex_lock(&lists_lock)') filled=$(line queues '&done_lock : &lists_lock')
holds ".suggestions[0] | [.sites[] | [.site, .role]] | sort_by(.[0]) | map(.[0]) ==
	[\"add_done (pair_queues.c:$filled)\", \"add_free (pair_queues.c:$free)\"]"
holds '.suggestions[0] | [.sites[].role] | sort == ["lock 1", "lock 2"]'
holds '.suggestions[0].not_exercised | contains("was executed by one thread only")'
gain queues

suggested readers config_lock 'read-read sites'
holds '.suggestions[0] | [.sites[] | [(.site | split(" ")[0]), .role]] | sort == [["look_up", "read lock"], ["update", "write lock"]]'
holds '.suggestions[0].data == "config"'
# The source has lock and unlock, and the access in between.
update=$(line readers 'config++')
holds ".suggestions[0].sites[] | select(.site | startswith(\"update\")) | .source | test(\"\\\\* +$update +config\\\\+\\\\+;\")"
same "marked calls" 2 "$(jq -r '.suggestions[0].sites[0].source' json | grep -c '^>.*lock(&config_lock)')"
gain readers

suggested buckets table_lock 'low-degree conflict'
holds '.suggestions[0] | .reported_only and (.action | contains("each of the 64 data")) and .data == "buckets[].value"'
gain buckets

# Text says the same.
"$gprof_mt" suggest buckets.a buckets.t >text 2>err || fail "text: $(cat err)"
grep -q '^  1 table_lock: reported only: a lock for each of the 64 data' text && grep -q "^ *> *$(line buckets 'mutex_lock(lock)')  " text ||
	fail "text: $(cat text)"

# Two runs with accesses are merged; a site that only one of them executes is not exercised in the other.
record_all readers.2 ./pair_readers >out 2>&1 || fail "record: $(cat out)"
"$gprof_mt" suggest --format json readers.a readers.2 readers.t >json 2>err || fail "two runs: $(cat err)"
holds '.suggestions[0] | .runs == 2 and .all_runs == 2 and ([.sites[].sections] | add) == 20000 and .lock == "config_lock"'
holds '[.notes[].note | select(contains("which takes time"))] == []'
"$gprof_mt" suggest --format json readers.a >json 2>err || fail "one capture: $(cat err)"
holds '[.notes[].note | select(contains("which takes time"))] | length == 1'

# Fixed programs, and one whose sections all conflict: nothing.
for name in buckets readers; do
	captures $name -DFIXED
	"$gprof_mt" suggest --format json $name.a $name.t >json 2>err || fail "suggest $name, fixed: $(cat err)"
	holds '.suggestions == [] and ([.notes[].note | select(startswith("nothing is suggested"))] | length == 1)'
done

# Sections that all conflict, with lines that need no lock, as far as machine code is read.
samples=sample.hz=1000
if [ -e "$GM_BUILD/libaccess_step.so" ]; then
	suggested section log_lock 'long section'
	last=$(line section 'work(10);')
	holds ".suggestions[0] | .action == \"shrink the sections of append (pair_section.c:$(line section 'lock(&log_lock)')): \" +
		\"move lines $((last - 2))-$last before the lock\" and .data == \"stored\""
	same "marked lines" 2 "$(jq -r '.suggestions[0].sites[0].source' json | grep -c '^^.*work(')"
	gain section
else
	captures section
fi

# Bad input.
fails 2 "expected the directories of captures" suggest
fails 2 "invalid --runs 'x'" suggest --runs x section.a
fails 1 "nowhere" suggest nowhere
fails 1 "section.t has no memory accesses of critical sections" suggest section.t
fails 1 "section.a: the same run as section.a, or a copy" suggest section.a section.a
fails 1 "a run of pair_buckets, but section.a is one of pair_section" suggest section.a buckets.a
"$gprof_mt" record -q -o contended --set sync.mode=contended -- bare/pair_section >out 2>&1 || fail "record: $(cat out)"
fails 1 "contended: 3 threads have only their waits recorded" suggest section.a contended
