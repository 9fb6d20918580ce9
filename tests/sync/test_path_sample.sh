#!/bin/bash
# SPDX-License-Identifier: MIT
# 1 in sync.path_sample acquisitions that did not wait has a call path, at random; `paths` shows them apart from waits.
. "$GM_TOP/tests/sync/common.sh"
need jq

ran() # MODE SAMPLE COMMAND...
{
	printf '[sync]\nmode = %s\nbudget = %s\npath_sample = %s\n' "${1%:*}" "${1#*:}" "$2" >now.conf
	shift 2
	GPROF_MT_CONFIG=$PWD/now.conf traced "$@" >out 2>err
	same "exit status of $*" 9 $?
}
report()
{
	"$gprof_mt" report --format json "$@"
}

# mode:budget; with the smallest budget auto soon records only waits
modes="all:5 contended:5 auto:1"
build path_sample -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fno-ipa-icf

# Each of them, of every kind, in every mode.
for mode in $modes; do
	ran "$mode" 1 ./path_sample
	events >events
	no_complaint
	same "$mode: samples" "lock pthread_mutex_lock 7
lock_robust pthread_mutex_lock 7
rdlock pthread_rwlock_rdlock 7
spin_lock pthread_spin_lock 7
spin_trylock pthread_spin_trylock 7
timedlock pthread_mutex_timedlock 7
trylock pthread_mutex_trylock 7
tryrdlock pthread_rwlock_tryrdlock 7
trywait sem_trywait 7
trywrlock pthread_rwlock_trywrlock 7
wait sem_wait 7
wrlock pthread_rwlock_wrlock 7" "$(report paths |
		jq -r '.path_samples[] | "\(.path | split(" < ")[0]) \(.function) \(.samples)"' | sort)"
	same "$mode: waits" "" "$(report paths | jq -r '.paths[] | .path')"
	same "$mode: all samples" 100 "$(report paths | jq '[.path_samples[].share_pct] | add | round')"
	same "$mode: contended" 0 "$(report locks | jq '[.locks[].contended] | add')"
	same "$mode: calls" "pthread_mutex_lock 14
pthread_mutex_unlock 28
sem_post 14" "$(report sync | jq -r '.sync[] | select(.function | test("mutex_(un)?lock|sem_post")) | "\(.function) \(.calls)"' | sort)"
done
echo "each: ok"

# 1 in 10 of 200,000, of which 9 in 10 are taken by one function: within six standard deviations, although the period of
# the program's loop is that of the samples.
for mode in $modes; do
	ran "$mode" 10 ./path_sample 20000
	report paths sync >report.json
	same "$mode: acquisitions" 200000 "$(jq '.sync[] | select(.function == "pthread_mutex_lock") | .calls' report.json)"
	often=$(jq '[.path_samples[] | select(.path | startswith("often")) | .samples] | add' report.json)
	seldom=$(jq '[.path_samples[] | select(.path | startswith("seldom")) | .samples] | add' report.json)
	n=$((often + seldom))
	echo "$mode: $often and $seldom samples"
	[ $n -gt $((20000 - 500)) ] && [ $n -lt $((20000 + 500)) ] || fail "$mode: $n samples of 200,000 acquisitions"
	[ $seldom -gt $((2000 - 260)) ] && [ $seldom -lt $((2000 + 260)) ] || fail "$mode: $seldom samples of 20,000 acquisitions"
done
echo "shares: ok"

# None if it is off, or if no call paths are recorded.
for value in 0 off; do
	ran all:5 $value ./path_sample 1000
	events >events
	expect 0 ' call_path '
done
printf '[sync]\nmode = all\npath_sample = 1\npaths = off\n' >off.conf
GPROF_MT_CONFIG=$PWD/off.conf traced ./path_sample
events >events
expect 0 ' call_path '
printf '[sync]\npath_sample = often\n' >bad.conf
GPROF_MT_CONFIG=$PWD/bad.conf traced ./path_sample >out 2>err
grep -q "bad.conf:2: invalid value 'often' for sync.path_sample: use off, or a number from 0 to 1000000000" err ||
	{ cat err; fail "a bad number"; }
echo "off: ok"
