#!/bin/bash
# SPDX-License-Identifier: MIT
# A process that ends at any step of making its files leaves a capture in which the report finds no
# damage.
. "$GM_TOP/tests/lib.sh"

command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null || skip "strace is not installed or cannot trace"
build_pg kill_steps

n_whole=0 n_empty=0
# sound WHAT: the report finds no damage, or an empty capture
sound()
{
	[ -e gprof-mt.data/session ] || { n_empty=$((n_empty + 1)); return; }
	if ! "$gprof_mt" report --format json quality >report 2>err; then
		grep -q 'is an empty capture' err || fail "$1: $(cat err)"
		n_empty=$((n_empty + 1))
		return
	fi
	! grep -E '"what": "[^"]*(missing|invalid|cut short|damage|left out|skipped|cannot)' report || fail "$1: expected no damage in the report"
	n_whole=$((n_whole + 1))
}

# The loader makes some 30 system calls before the library's.  strace kills the process before the call.
for call in openat openat2 fallocate write mkdir mkdirat rename renameat ftruncate pwrite64; do
	for n in $(seq 1 40); do
		fresh strace -f -qq -o trace -E LD_PRELOAD="$libsync" -e trace=$call \
			-e inject=$call:signal=KILL:when=$n ./kill_steps 2>err
		[ $? = 137 ] || break # fewer than n such calls
		[ -d gprof-mt.data ] && sound "killed at $call $n"
	done
done

# The first file of one thread takes long to open; the others go on, and the process ends meanwhile.
for stream in 0 1 2 3; do
	fresh strace -f -qq -o trace -E LD_PRELOAD="$libsync" -P stream_$stream -e trace=openat,openat2 \
		-e inject=openat,openat2:delay_enter=400000 ./kill_steps 2>err || fail "stream_$stream: $(cat err)"
	sound "stream_$stream made late"
done
[ $n_whole -ge 20 ] || fail "expected at least 20 captures with a process, found $n_whole"
echo "$n_whole captures without damage, $n_empty without a process"
exit 0
