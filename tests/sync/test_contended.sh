#!/bin/bash
# SPDX-License-Identifier: MIT
# sync.mode = contended: operations that waited, and those that ended a wait, are written; the others are
# counted, and none is missing, even if the program is killed.
. "$GM_TOP/tests/sync/common.sh"

printf '[sync]\npath_sample = off\nmode = contended\n' >contended.conf
build waits_only
GPROF_MT_CONFIG=$PWD/contended.conf traced ./waits_only >out
status=$?
[ $status -eq 137 ] || fail "exit status $status"
read -r main waiter child mutex <out
events "gprof-mt.data/$main/user" >events
no_complaint

hex="object=0x$(printf %X "$mutex")"
expect 1 " $waiter mutex_lock_begin .*$hex holder=$main\$"
expect 1 " $waiter mutex_lock .*$hex\$"
expect 1 " $main mutex_unlock .*$hex\$"
# the hold that blocked the waiter, as its begin names it
expect 1 " $main mutex_lock .*$hex\$"
expect 2 ' mutex_lock '
# the waiter later is the holder
expect 1 " $waiter mutex_unlock .*$hex\$"
# the hold during which a try failed, the try, and its release
expect 1 " $main mutex_trylock result=0 "
expect 1 " $main tries .* holder=$main more=0\$"
expect 1 " $main mutex_trylock result=16 "
expect 3 ' mutex_unlock '
expect 1 " $waiter sem_wait_begin "
expect 1 " $waiter sem_wait "
expect 1 " $main sem_post "
expect 1 " $waiter rwlock_wrlock_begin "
grep -q " $main rwlock_unlock " events || fail "no rwlock_unlock of the main thread"
expect 0 ' (cond_|spin_lock|spin_unlock|(sem|rwlock|spin)_try)'
n=$(grep -vcE " (path|call_path|io_call) " events)
[ "$n" -lt 60 ] || fail "expected fewer than 60 events without call paths and calls of sleep, got $n"
echo "written: ok"

"$gprof_mt" report --format json sync locks >report.json || fail "report: exit status $?"
calls() # TID FUNCTION
{
	jq -r --argjson t "$1" --arg f "$2" '[.sync[] | select(.tid == $t and .function == $f) | .calls] | add' report.json
}
while read -r tid function wanted; do
	got=$(calls "$tid" "$function")
	[ "$got" = "$wanted" ] || { cat report.json; fail "$function of $tid: expected $wanted calls, got $got"; }
done <<-END
	$main pthread_mutex_lock 100001
	$main pthread_mutex_unlock 100002
	$main pthread_mutex_trylock 2
	$main pthread_cond_signal 1
	$main pthread_cond_broadcast 1
	$main sem_post 2
	$main sem_trywait 1
	$main pthread_rwlock_rdlock 2
	$main pthread_rwlock_tryrdlock 1
	$main pthread_rwlock_unlock 3
	$main pthread_spin_lock 1
	$main pthread_spin_unlock 1
	$waiter pthread_mutex_lock 1
	$waiter pthread_mutex_unlock 1
	$waiter sem_wait 1
	$waiter pthread_rwlock_wrlock 1
	$waiter pthread_rwlock_unlock 1
	$child pthread_mutex_lock 7
	$child pthread_mutex_unlock 7
END
# Values that were not recorded are missing, not 0.
jq -e --arg o "0x$(printf %x "$mutex")" '.locks[] | select(.object == $o) |
	.contended == 1 and .acquired == null and .hold_ns == null and .wait_ns > 0' report.json >/dev/null ||
	{ jq .locks report.json; fail "expected the mutex with its wait in locks"; }
"$gprof_mt" report locks | grep -q 'sync.mode = contended' || fail "no note about the missing holds"
jq -e --arg o "0x$(printf %x "$mutex")" '.locks[] | select(.object == $o) |
	[.sites[].holders[]?] | length == 1 and .[0].address != null' report.json >/dev/null ||
	{ jq .locks report.json; fail "expected the call site at which the holder acquired the mutex"; }
echo "counted: ok"

# A truncated file is reported, and the rest is read.
truncate -s 4200 "gprof-mt.data/$main/sync-counts"
"$gprof_mt" report --format json sync >cut.json 2>err && fail "damage, and exit status 0"
grep -q 'sync-counts: cut short' err || { cat err; fail "the damage is not reported"; }

# The same counts as in a full recording.
build all
compare()
{
	"$gprof_mt" report --format json sync | jq -r '.sync[] | select(.function | test("cond_wait|once") | not) |
		"\(.index) \(.function) \(.calls)"' | sort
}
traced ./all >/dev/null || [ $? -eq 42 ] || fail "mode = all"
compare >all.txt
GPROF_MT_CONFIG=$PWD/contended.conf traced ./all >/dev/null || [ $? -eq 42 ] || fail "mode = contended"
compare >contended.txt
diff all.txt contended.txt || fail "the two modes count differently"
[ "$(wc -l <all.txt)" -gt 40 ] || fail "nothing was compared"
echo "as in full: ok"

# Locks that are released in the order in which they were acquired are counted like others.
cat >crossed.c <<-'END'
	#include <pthread.h>
	#include <stdlib.h>
	#define LOCKS 4
	int main(void)
	{
		static pthread_mutex_t locks[LOCKS];
		static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
		static pthread_spinlock_t spin;
		pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
		for (int i = 0; i < 1000; i++) {
			for (int k = 0; k < LOCKS; k++)
				if (pthread_mutex_trylock(&locks[k]))
					abort();
			pthread_rwlock_wrlock(&rwlock);
			pthread_spin_lock(&spin);
			pthread_mutex_unlock(&locks[2]);
			for (int k = 0; k < LOCKS; k++)
				if (k != 2)
					pthread_mutex_unlock(&locks[k]);
			pthread_rwlock_unlock(&rwlock);
			pthread_spin_unlock(&spin);
		}
	}
END
"$CC" -O2 -o crossed crossed.c -pthread || fail "cannot compile"
GPROF_MT_CONFIG=$PWD/contended.conf traced ./crossed || fail "crossed: exit status $?"
events gprof-mt.data/*/user >events
no_complaint
expect 12 ' (mutex|rwlock|spin)_(.*lock|trylock) ' # the first round: each of its call sites is an event
"$gprof_mt" report --format json sync | jq -r '.sync[] | select(.calls >= 1000) | "\(.function) \(.calls)"' |
	sort >crossed.txt
diff - crossed.txt <<-END || fail "crossed: other counts"
	pthread_mutex_trylock 4000
	pthread_mutex_unlock 4000
	pthread_rwlock_unlock 1000
	pthread_rwlock_wrlock 1000
	pthread_spin_lock 1000
	pthread_spin_unlock 1000
END
echo "in the order of acquisition: ok"

# Nothing waited: each table with figures of operations tells, in each format, how many were only counted.
cat >quiet.c <<-'END'
	#include <pthread.h>
	int main(void)
	{
		static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
		for (int i = 0; i < 1000; i++) {
			pthread_mutex_lock(&lock);
			pthread_mutex_unlock(&lock);
		}
	}
END
"$CC" -O2 -o quiet quiet.c -pthread || fail "cannot compile"
GPROF_MT_CONFIG=$PWD/contended.conf traced ./quiet || fail "quiet: exit status $?"
counted='(19[0-9][0-9]|2000) operations were only counted'
"$gprof_mt" report --format json locks | jq -e 'all(.locks[]; .contended == 0)' >/dev/null || fail "a wait"
while read -r section keys; do
	"$gprof_mt" report "$section" >text || fail "$section: exit status $?"
	grep -Eq "$counted" text || { cat text; fail "$section: no note in text"; }
	"$gprof_mt" report --format json "$section" >json
	for key in $keys; do
		jq -e --arg k "$key" --arg n "$counted" '[.notes[] | select(.section == $k and
			(.note | test($n)))] | length >= 1' json >/dev/null || { cat json; fail "$key: no note in JSON"; }
		"$gprof_mt" report --format csv --table "$key" "$section" >csv 2>err || fail "$key: exit status $?"
		grep -Eq "$key: .*$counted" err || { cat err; fail "$key: no note on CSV"; }
	done
done <<-END
	summary summary
	threads threads
	sync sync
	paths paths
	locks locks
	critical-path critical_threads critical_objects critical_sites critical_stretches
	quality quality
END
if [ -s "$GM_TOP/build/page.html" ]; then
	"$gprof_mt" export --format html -o page.html >/dev/null 2>err || { cat err; fail "export: exit status $?"; }
	PYTHONPATH=$GM_TOP/tests/export/programs/html python3 -c 'import page, re, sys
sys.exit(not any(re.search(sys.argv[1], m["reason"]) for m in page.read("page.html")["missing"]))' "$counted" ||
		fail "no note in the page"
fi
echo "nothing waited: ok"
