#!/bin/bash
# SPDX-License-Identifier: MIT
# Signal handlers synchronize at any instant of synchronizing code: no event is lost or damaged, and times do
# not go back.
. "$GM_TOP/tests/sync/common.sh"

# count WORD EVENT: there are as many such events as the program printed
count()
{
	local n object seen
	read -r _ n object <<<"$(grep "^$1 " out)"
	seen=$(awk -v name="$2" -v object="object=0x$(printf %X "$object")" \
		'$3 == name && $6 == object && $4 == "result=0"' events | wc -l)
	[ "$seen" -eq "$n" ] || fail "expected $n events $2 on $1, got $seen"
}

build signals
for way in "" stack; do
	# shellcheck disable=SC2086 # an empty argument must vanish
	traced ./signals $way >out || fail "errno or results were changed ($way)"
	babeltrace2 --no-delta --clock-cycles gprof-mt.data/*/user |
		awk '{ if ($1 < last) exit 1; last = $1 }' || fail "times go back"
	events >events
	no_complaint
	count posts sem_post
	count tries mutex_trylock
	count tries mutex_unlock
	count locks mutex_lock
	count locks mutex_unlock
	count main_posts sem_post
done

# A handler leaves by siglongjmp(): the interrupted event may be missing, all others are recorded.
traced ./signals jump >out || fail "errno or results were changed (jump)"
events >events
no_complaint
count posts sem_post
