#!/bin/bash
# SPDX-License-Identifier: MIT
# After each instruction of a lock and an unlock, with known or new call sites, a handler synchronizes,
# switches to another context and back, leaves by siglongjmp(), or forks: no event is lost or damaged.
. "$GM_TOP/tests/sync/common.sh"

# counted N OBJECT EVENT: the object has exactly N such events
counted()
{
	expect "$1" " $3 result=0 .*object=0x$(printf %X "$2")\$"
}

# sites_of: prints "OBJECT SITE" of each lock, as the native reader decodes the numbers of sites
sites_of()
{
	"$GM_BUILD/gprof-mt" history --format json | python3 -c '
import json, sys
for object in json.load(sys.stdin)["objects"]:
    for op in object["ops"]:
        if op["op"] == "mutex_lock":
            print(object["object"], op["site"])'
}

build steps
for how in handle switch jump 'handle new-sites' 'jump new-sites'; do
	# shellcheck disable=SC2086 # the words are split on purpose
	traced ./steps $how >out 2>err || fail "$how: the program fails: $(cat err)"
	events >events
	no_complaint
	while read -r word n object; do
		case $word in
		posts) counted "$n" "$object" sem_post ;;
		owns | others)
			counted "$n" "$object" mutex_lock
			counted "$n" "$object" mutex_unlock
			;;
		esac
	done <out
	[ "${how% *}" != jump ] || continue # after a jump it is unknown whether the interrupted lock was completed
	locks=$(grep -c ^locks out)
	[ "$locks" -gt 50 ] || fail "$how: expected more than 50 instructions, got $locks"
	# the interrupted mutexes, each locked once and unlocked once
	grep ^locks out | while read -r _ _ object; do
		printf 'object=0x%X\n' "$object"
	done | sort >stepped
	for event in mutex_lock mutex_unlock; do
		grep " $event result=0 " events | grep -o 'object=.*' | sort | uniq -c |
			awk '$1 == 1 { print $2 }' | comm -13 - stepped >missing
		[ ! -s missing ] || fail "$how: $(wc -l <missing) of $locks $event were not recorded exactly once"
	done
	[ "${how#* }" = new-sites ] || continue
	awk '/^locks/ { print $3, "0x" $2 }' out | sort >called
	sites_of | sort | comm -13 - called >elsewhere
	[ ! -s elsewhere ] || fail "$how: wrong call sites: $(head -3 elsewhere)"
done

for sites in '' new-sites; do
	# shellcheck disable=SC2086 # an empty argument must vanish
	traced ./steps fork $sites >out 2>err || fail "fork $sites: the program fails: $(cat err)"
	children=$(grep -c ^child out)
	[ "$children" -gt 50 ] || fail "fork: expected more than 50 children, got $children"
	events "gprof-mt.data/*/user" >events
	no_complaint
	counted $((3 * children + $(sed -n 's/^posts \([0-9]*\) .*/\1/p' out))) "$(sed -n 's/^posts .* //p' out)" sem_post
done

# In contended mode a pending hold, which is timed but not an event yet, survives all this.
for holds in no yes; do
	printf '[sync]\npath_sample = off\nmode = contended\nholds = %s\n' $holds >contended.conf
	# A timed lock takes three times as many instructions.
	coarse=$([ $holds = no ] || echo coarse)
	for how in handle switch jump fork; do
		# shellcheck disable=SC2086 # an empty argument must vanish
		GPROF_MT_CONFIG=$PWD/contended.conf traced ./steps $how $coarse >out 2>err ||
			fail "$how, holds = $holds: the program fails: $(cat err)"
		events "gprof-mt.data/*/user" >events
		no_complaint
		"$GM_BUILD/gprof-mt" report --format json quality locks >report.json || fail "$how, holds = $holds: report"
		[ $holds = yes ] && [[ $how = @(handle|switch) ]] || continue
		# Each interrupted lock was acquired once, and its hold was measured. None is pending at the end in a
		# writer that a handler interrupted: its release found it there, or made it an event.
		grep ^locks out | while read -r _ _ object; do
			echo "$object 1"
		done | sort >stepped
		python3 -c 'import json
for lock in json.load(open("report.json"))["locks"]:
    if lock["hold_ns"] is not None: print(lock["object"], lock["acquired"])' | sort | comm -13 - stepped >missing
		[ ! -s missing ] || fail "$how: $(wc -l <missing) of $(wc -l <stepped) locks were not acquired once"
	done
done
