#!/bin/bash
# SPDX-License-Identifier: MIT
# A process that ends at any step of making its files has lost nothing but what it had not done: the
# report tells of no damage.
. "$GM_TOP/tests/lib.sh"

command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || skip "no strace here"
build_pg kill_steps

n_whole=0 n_empty=0
# sound WHAT: the capture says nothing of damage, or that no process wrote into it.
sound()
{
	[ -e gprof-mt.data/session ] || { n_empty=$((n_empty + 1)); return; }
	if ! "$gprof_mt" report --format json quality >report 2>err; then
		grep -q 'is an empty capture' err || fail "$1: $(cat err)"
		n_empty=$((n_empty + 1))
		return
	fi
	! grep -E '"what": "[^"]*(missing|cut short|damage|left out|cannot)' report || fail "$1: called damage"
	n_whole=$((n_whole + 1))
}

# The library's own calls come after some 30 of the loader's.  A kill comes before the call.
for call in openat openat2 fallocate write mkdir mkdirat rename renameat ftruncate pwrite64; do
	for n in $(seq 1 40); do
		fresh strace -f -qq -o trace -E LD_PRELOAD="$libsync" -e trace=$call \
			-e inject=$call:signal=KILL:when=$n ./kill_steps 2>err
		[ $? = 137 ] || break # it makes no more of them
		[ -d gprof-mt.data ] && sound "killed at $call $n"
	done
done

# One thread's first file takes long; the others go on, and the process ends meanwhile.
for stream in 0 1 2 3; do
	fresh strace -f -qq -o trace -E LD_PRELOAD="$libsync" -P stream_$stream -e trace=openat,openat2 \
		-e inject=openat,openat2:delay_enter=400000 ./kill_steps 2>err || fail "stream_$stream: $(cat err)"
	sound "stream_$stream made late"
done
[ $n_whole -ge 20 ] || fail "only $n_whole captures to look at"
echo "$n_whole captures sound, $n_empty with no process in them"
exit 0
