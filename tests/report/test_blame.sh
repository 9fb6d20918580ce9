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
	"$gprof_mt" record -q -o d --set sync.mode=$mode --set sync.paths=1us ./blamed 150 >account 2>err ||
		fail "record: $(cat err)"
	"$gprof_mt" report -i d --format json threads sync locks io calltree blame >report.json 2>err ||
		fail "report: $(cat err)"
	python3 - $mode "$(can_trace && echo traced)" <<-'END' || fail "$mode: see above: $(cat account)"
	import json, sums, sys
	mode, traced = sys.argv[1:]
	report = json.load(open("report.json"))
	wrong = sums.mismatches(report)
	assert not wrong, wrong
	account = {line.split()[0]: int(line.split()[1]) for line in open("account")}
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
	assert sum(found.values()) <= 1.1 * (sum(account.values()) + others), (found, account, others)
	for name, of in account.items():
	    assert found[name] >= 0.9 * of, (name, of, found[name])
	rows = [row for row in report["blame"] if row["name"] == "lock" and row["kind"] == "holder" and row["path"]]
	first = max(rows, key=lambda row: row["wait_ns"])
	assert first["path"].split(" < ")[0] in account, first
	if traced:
	    for row in rows:
	        if row["path"].startswith("store"):
	            assert row["running_ns"] <= 0.2 * row["wait_ns"] and row["blocked_other_ns"] > row["running_ns"], row
	        if row["path"].startswith("compute"):
	            assert row["running_ns"] + row["runnable_ns"] >= 0.7 * row["wait_ns"] and row["running_ns"] > 0, row
	END
	"$gprof_mt" report -i d blame >text || fail "text"
	grep -q '^ *0x[0-9a-f]* *mutex *lock *holder *pthread_mutex_unlock *\(compute\|store\) (blamed.c:' text ||
		fail "text: $(cat text)"
	! grep -q 'nothing to blame' text || fail "text: $(cat text)"
	"$gprof_mt" report -i d --format csv --table blame_waiters blame >rows.csv || fail "csv"
	[ "$(wc -l <rows.csv)" -gt 2 ] || fail "csv: $(cat rows.csv)"
done

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
"$gprof_mt" report -i d blame >text || fail "text"
grep -q 'nothing to blame: waits that are not idle are 0\.[0-9] % of the threads. lifetimes' text || fail "quiet: $(cat text)"
