#!/bin/bash
# SPDX-License-Identifier: MIT
# `report blame` agrees with a program's own account of which hold each of its waits was for, and tells what the holders
# did meanwhile. Its sums are those of the other sections. A program that hardly waits gets no one to blame.
. "$GM_TOP/tests/lib.sh"
need python3
export PYTHONPATH=$GM_TOP/tests/captures PYTHONDONTWRITEBYTECODE=1

build blamed -O2
for mode in all contended auto; do
	rm -rf d
	# Without samples, the first of which makes files, too.
	"$gprof_mt" record -q -o d --set sync.mode=$mode --set sync.paths=1us --set sample.hz=0 ./blamed 150 >account 2>err ||
		fail "record: $(cat err)"
	"$gprof_mt" report -i d --format json threads sync locks io calltree blame blame-tree >report.json 2>err ||
		fail "report: $(cat err)"
	python3 - $mode "$(can_trace && echo traced)" <<-'END' || fail "$mode: see above: $(cat account)"
	import json, sums, sys
	mode, traced = sys.argv[1:]
	report = json.load(open("report.json"))
	wrong = sums.mismatches(report)
	assert not wrong, wrong
	lines = [line.split() for line in open("account")]
	account, most = ({line[0]: int(line[at]) for line in lines} for at in (1, 2))
	found = dict.fromkeys(account, 0)
	for row in report["blame"]:
	    if row["name"] == "lock" and row["kind"] == "holder":
	        for name in account:
	            if row["path"] and name in row["path"]:
	                found[name] += row["wait_ns"]
	                held = row["acquired"]
	                assert held.startswith(name + " ("), row
	print(mode, "account", account, "blame", found)
	# The holders also wait for each other.
	others = sum(row["held_ns"] for row in report["blame_waiters"]
	             if row["name"] == "lock" and not row["site"].startswith("need "))
	assert sum(found.values()) <= 1.1 * (sum(most.values()) + others), (found, most, others)
	for name, of in account.items():
	    assert found[name] >= 0.9 * of, (name, of, found[name])
	rows = [row for row in report["blame"] if row["name"] == "lock" and row["kind"] == "holder" and row["path"]]
	first = max(rows, key=lambda row: row["wait_ns"])
	# On a busy machine another holder may have got no CPU, or waited for the disk at a page fault.
	stopped = first["wait_ns"] - first["running_ns"]
	assert first["path"].split(" < ")[0] in account or stopped > 0.5 * first["wait_ns"], first
	if traced:
	    for row in rows:
	        if row["path"].startswith("store"):
	            assert row["running_ns"] <= 0.2 * row["wait_ns"] and row["blocked_other_ns"] > row["running_ns"], row
	        if row["path"].startswith("compute"):
	            # A full disk queue can block it in I/O: at a page fault.
	            slept = row["blocked_sync_ns"] + row["blocked_other_ns"]
	            assert slept <= 0.3 * row["wait_ns"] and row["running_ns"] > 0, row
	END
	"$gprof_mt" report -i d blame >text || fail "text"
	grep -q '^ *0x[0-9a-f]* *mutex *lock *holder *pthread_mutex_unlock *\(compute\|store\) (blamed.c:' text ||
		fail "text: $(cat text)"
	! grep -q 'nothing to blame' text || fail "text: $(cat text)"
	"$gprof_mt" report -i d --format csv --table blame_waiters blame >rows.csv || fail "csv"
	[ "$(wc -l <rows.csv)" -gt 2 ] || fail "csv: $(cat rows.csv)"
done

# Each view alone: text and CSV of the last capture. Those that hold a lock while others wait are compute() and store().
! grep -q '^Waits by waiting call\|^Suspects' text || fail "other views without --by: $(cat text)"
# That by holder has another table, of holders that were blocked themselves; text has it if there are any.
for by in 'holder blame blame_nested' 'waiter blame_waiters' 'suspect blame_suspects'; do
	view=${by%% *} tables=${by#* } table=${by##* }
	"$gprof_mt" report -i d --format json --by $view blame | python3 -c '
import json, sys
tables = set(json.load(sys.stdin)) - {"notes", "schema"}
assert tables == set(sys.argv[1:]), tables' $tables || fail "json --by $view"
	"$gprof_mt" report -i d --format csv --by $view --table $table blame >rows.csv 2>err || fail "csv --by $view"
	! grep -q "only table" err || fail "csv --by $view: $(cat err)"
	"$gprof_mt" report -i d --by=$view blame >text || fail "--by $view"
	[ "$(grep '^[A-Z].*[a-z]$' text | grep -vc '^Holders that were blocked')" -le 1 ] || fail "--by $view has several tables: $(cat text)"
done
for by in holder waiter suspect; do
	for way in '' --bottom-up; do
		"$gprof_mt" report -i d --format json --by $by $way threads sync locks io calltree blame-tree >tree.json ||
			fail "json blame-tree --by $by $way"
		python3 -c '
import json, sums
wrong = sums.mismatches(json.load(open("tree.json")))
assert not wrong, wrong' || fail "sums of blame-tree --by $by $way"
	done
done
"$gprof_mt" report -i d blame-tree >tree || fail "blame-tree"
grep -q '^Blame, as a tree$' tree || fail "blame-tree: $(cat tree)"
# On a busy machine, either may be too small a part to be shown.
grep -q '\(compute\|store\).*\(> pthread_mutex_unlock\)\?$' tree || fail "blame-tree: $(cat tree)"
"$gprof_mt" report -i d --bottom-up blame-tree | grep -q '  pthread_mutex_unlock' || fail "blame-tree --bottom-up"
grep -q ' holder .*\(compute\|store\)' text || fail "no suspect holds the lock: $(cat text)"
status=0
"$gprof_mt" report -i d --by victim blame 2>err || status=$?
same "exit status of --by victim" 2 "$status"
grep -q "invalid --by 'victim' (expected holder, waiter or suspect)" err || fail "--by victim: $(cat err)"
status=0
"$gprof_mt" report -i d --by waiter locks 2>err || status=$?
same "exit status of --by waiter locks" 2 "$status"
grep -q 'by is for sections blame and blame-tree' err || fail "--by waiter locks: $(cat err)"

# Suspects know no objects, so the view is empty; but the object exists.
object=$("$gprof_mt" report -i d --format json locks | jq -r '.locks[0].object') || fail "locks"
"$gprof_mt" report -i d --object "$object" --by suspect blame >text || fail "--by suspect --object: no view"
grep -q 'so --object and --min-wait do not apply to them' text || fail "--by suspect --object: $(cat text)"

# A program that hardly waits.
cat >quiet.c <<'END'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long sum;
static void *work(void *unused)
{
	for (int i = 0; i < 100; i++) {
		for (int j = 0; j < 1000000; j++)
			sum = sum + 1;
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
END
"$CC" -O2 -g -o quiet quiet.c -pthread || fail "cannot compile"
rm -rf d
"$gprof_mt" record -q -o d ./quiet 2>err || fail "record: $(cat err)"
"$gprof_mt" report -i d --object lock blame >text || fail "an object without waits: $(cat text)"
status=0
"$gprof_mt" report -i d --object key blame 2>err || status=$?
same "exit status of an object that does not exist" 1 "$status"
"$gprof_mt" report -i d blame >text || fail "text"
grep -q 'nothing to blame: waits that are not idle are 0\.[0-9] % of the threads. lifetimes' text || fail "quiet: $(cat text)"
