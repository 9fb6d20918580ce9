#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads were killed before their last names were recorded: every command shows the kernel's names, as
# `report threads` does, whatever else it reads.
. "$GM_TOP/tests/lib.sh"
can_trace || skip "perf tracepoints are not permitted here"
"$CC" -pg -O2 -g -o killed "$GM_TOP/tests/report/programs/timeline/killed.c" -pthread || fail "cannot compile"
("$gprof_mt" record -q --set calls.mode=history ./killed) 2>err
[ $? = 137 ] || fail "record: $(cat err)"

# names TABLE JSON: prints the names of the threads in the table.
names()
{
	jq -r ".$1[] | .thread // .name" "$2" | sort -u | tr '\n' ' '
}

for sections in 'threads threads' 'functions flat' 'arcs callgraph' 'sync sync' 'activity activity'; do
	read -r table section <<<"$sections"
	"$gprof_mt" report --format json "$section" >$section.json || fail "report $section"
	got=$(names "$table" $section.json)
	[ "$got" = 'bystander doomed killed ' ] || fail "report $section: threads $got"
done
"$gprof_mt" report --thread doomed --format json flat >doomed.json || fail "report --thread flat"
[ "$(names functions doomed.json)" = 'doomed ' ] || fail "$(cat doomed.json)"
"$gprof_mt" report --thread doomed --format json sync >doomed.json || fail "report --thread sync"
[ "$(jq '[.sync[] | select(.function == "pthread_mutex_lock").calls] | add' doomed.json)" = 2 ] ||
	fail "operations of doomed before its renaming are not shown: $(cat doomed.json)"
"$gprof_mt" history --thread doomed --object mutex --format csv >history.csv || fail "history --thread"
[ "$(grep -c '"doomed"' history.csv)" = 4 ] || fail "$(cat history.csv)"
"$gprof_mt" graph --kind calls --thread doomed --format csv >edges.csv || fail "graph --thread"
[ "$(wc -l <edges.csv)" -gt 1 ] || fail "no calls of doomed"
"$gprof_mt" export --format folded --what calls --thread doomed -o - >folded || fail export
grep -q '^thread [12] doomed (tid [0-9]*, process [0-9]*);run;take 2$' folded || fail "$(cat folded)"

# Selected by name, with the name in the heading, also for main(), which the kernel renamed at exec.
for thread in killed doomed bystander; do
	"$gprof_mt" timeline --thread $thread >timeline || fail "timeline --thread $thread"
	head -n 1 timeline | grep -q "^Timeline of thread [0-2] $thread (" || fail "$(head -n 1 timeline)"
	"$gprof_mt" history --calls --thread $thread >calls || fail "history --calls --thread $thread"
	head -n 1 calls | grep -q "^Calls of thread [0-2] $thread (" || fail "$(head -n 1 calls)"
done
tid=$(jq '.threads[] | select(.name == "killed").tid' threads.json)
"$gprof_mt" timeline --tid "$tid" | head -n 1 | grep -q ' killed (' || fail "timeline --tid of main()"
fails 1 "no thread has a name that matches 'gprof*'" timeline --thread 'gprof*'

# Events that are read a second time, for names, report their damage once.
truncate -s -1 "$(find gprof-mt.data/kernel -name 'channel*' -size +0 -print -quit)"
"$gprof_mt" report --format json quality >once.json 2>damage
"$gprof_mt" report --format json --thread '*' quality threads >twice.json 2>damage.twice
jq -e '.quality | length > 0' once.json >/dev/null || fail "no damage: $(cat once.json)"
diff <(jq .quality once.json) <(jq .quality twice.json) && diff damage damage.twice || fail "see above"
