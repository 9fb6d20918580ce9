#!/bin/bash
# SPDX-License-Identifier: MIT
# Results, errno, cancellation, signals, forks: a transcript of each wrapped function with each answer
# that it can be brought to give, the same without the library and with it, whatever it records.
. "$GM_TOP/tests/sync/common.sh"

build behaviour
./behaviour >without 2>err
[ $? -eq 17 ] && [ ! -s err ] || { tail -n 3 without; cat err; fail "the program itself does not work"; }

# What is exported stands in the table, and what stands there was seen.  Second names of the same functions
# (test_sync_versions), what the libraries share, prctl() and syscall() (robust/test_seccomp), chroot()
# (robust/test_other_programs), the ways out (robust/test_thread_files, test_copy_on_write), and jumps, which
# never return (robust/test_jumps_out_of_waits), do not.
sed -n 's/^\t\t\([A-Za-z_]*\);$/\1/p' "$GM_TOP/libsync-trace/libsync-trace.map" |
	grep -vxE '__pthread_.*|gsignal|gm_thread_watch_shared|prctl|syscall|chroot|_exit|_Exit|daemon|.*longjmp(_chk)?' | sort >exported
[ "$(wc -l <exported)" -gt 70 ] || fail "the map cannot be read"
sed '/^#/d; s/:.*//' "$programs/behaviour/answers" | sort | diff exported - ||
	fail "the table of answers and the library's map differ"
sed '/^#/d; s/;.*//; s/://' "$programs/behaviour/answers" | while read -r function answers; do
	for answer in $answers; do
		[[ $answer == *\? ]] || echo "covered $function $answer"
	done
done | sort >wanted
grep '^covered ' without | sort | comm -13 - wanted >missing
[ ! -s missing ] || { cat missing; fail "answers that were not got"; }

# alike NAME CONFIGURATION
alike()
{
	printf '[sync]\n%s\n' "$2" >"$1.conf"
	GPROF_MT_CONFIG=$1.conf traced ./behaviour >"with.$1" 2>err
	[ $? -eq 17 ] || { tail -n 3 "with.$1"; cat err; fail "$1: it ends otherwise when traced"; }
	diff without "with.$1" || fail "$1: the transcripts differ"
	[ ! -s err ] || fail "$1: it says: $(cat err)"
}

alike off 'mode = off'
alike contended 'mode = contended'
alike lttng 'sink = lttng'
alike paths $'paths = 1ns\nexclude = libother*'
# Here children that reach a limit before anything is recorded say that they cannot be.
printf '[sync]\nexclude = behaviour\n' >none.conf
GPROF_MT_CONFIG=none.conf traced ./behaviour >with.none 2>err
[ $? -eq 17 ] || { tail -n 3 with.none; cat err; fail "none: it ends otherwise when traced"; }
diff without with.none || fail "none: the transcripts differ"
alike all 'mode = all'
events >events
no_complaint

# Each cancelled condition wait took its mutex back; a semaphore's wait just began.
waits=$(grep -Ec '^-- cancelled .*(cond|cnd)_(wait|timedwait|clockwait)' without)
[ "$waits" -gt 20 ] || fail "only $waits cancelled waits"
expect "$waits" ' cond_(timed)?wait result=125 '
# robust mutexes were owned with EOWNERDEAD
[ "$(grep -c ' mutex_lock result=130 ' events)" -ge 16 ] || fail "no EOWNERDEAD among the events"

# With wrappers of the program's own (ld --wrap) between it and all of these.
[ "$(uname -m)" = x86_64 ] || exit 0
{
	echo '.text'
	while read -r function; do
		printf '.globl __wrap_%s\n__wrap_%s:\n.cfi_startproc\nsub $8, %%rsp\n.cfi_adjust_cfa_offset 8\n' \
			"$function" "$function"
		printf 'call __real_%s@PLT\nadd $8, %%rsp\n.cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n' "$function"
	done < <(grep -v '^__' exported)
	echo '.section .note.GNU-stack, "", @progbits'
} >wrappers.s
mapfile -t wraps < <(sed '/^__/d; s/^/-Wl,--wrap=/' exported)
build behaviour "$PWD/wrappers.s" "${wraps[@]}"
alike wrapped 'mode = all'
