#!/bin/bash
# SPDX-License-Identifier: MIT
# Results, errno, cancellation, signals, forks: a transcript of each wrapped function with each of its
# possible results is the same without the library and with it, in every mode.
. "$GM_TOP/tests/sync/common.sh"

build behaviour
./behaviour >without 2>err
[ $? -eq 17 ] && [ ! -s err ] || { tail -n 3 without; cat err; fail "the program fails without the library"; }

# Every exported function is in the table, and every result in the table occurred. Exceptions: second names of
# the same functions (test_versions), functions that both libraries share, prctl() and syscall()
# (robust/sandbox/test_seccomp), chroot() (robust/sandbox/test_other_programs), process ends
# (robust/files/test_thread_files, test_copy_on_write), keys (robust/threads/test_thread_specific_keys), and jumps,
# which never return (robust/threads/test_jumps_out_of_waits), the wrappers of libgomp's (report/test_openmp), blocking
# calls (io/test_calls), and functions that libaccess_trace calls (access/test_segments, access/test_lives).
sed -n 's/^\t\t\([A-Za-z_]*\);$/\1/p' "$GM_TOP/libsync-trace/libsync-trace.map" |
	grep -vxE '__pthread_.*|gsignal|gm_thread_watch_shared|prctl|syscall|chroot|_exit|_Exit|daemon|pthread_exit|thrd_exit|pthread_key_create|tss_create|.*longjmp(_chk)?|st_(GOMP|omp)_.*|st_access_.*' |
	grep -vxE "$(sed -nE 's/^\tX\(([a-z_]+, )?([A-Za-z0-9_]+),.*/\2/p; s/^\tX\((_[A-Za-z0-9_]+), [a-z0-9]+\).*/\1/p' \
		"$GM_TOP/libsync-trace/libc/real_io.h" | paste -sd'|')" | sort >exported
[ "$(wc -l <exported)" -gt 70 ] || fail "expected more than 70 exported functions"
sed '/^#/d; s/:.*//' "$programs/behaviour/expected_results" | sort | diff exported - ||
	fail "expected_results and the library's map differ"
sed '/^#/d; s/;.*//; s/://' "$programs/behaviour/expected_results" | while read -r function answers; do
	for answer in $answers; do
		[[ $answer == *\? ]] || echo "covered $function $answer"
	done
done | sort >wanted
grep '^covered ' without | sort | comm -13 - wanted >missing
[ ! -s missing ] || { cat missing; fail "these expected results did not occur"; }

# alike NAME CONFIGURATION
alike()
{
	printf '[sync]\n%s\n' "$2" >"$1.conf"
	GPROF_MT_CONFIG=$1.conf traced ./behaviour >"with.$1" 2>err
	[ $? -eq 17 ] || { tail -n 3 "with.$1"; cat err; fail "$1: the exit status changes when traced"; }
	diff without "with.$1" || fail "$1: the transcripts differ"
	[ ! -s err ] || fail "$1: unexpected message: $(cat err)"
}

alike off 'mode = off'
alike contended 'mode = contended'
alike lttng 'sink = lttng'
alike paths $'paths = 1ns\nexclude = libother*'
# Children that reach a limit before anything is recorded print that they cannot be recorded.
printf '[sync]\nexclude = behaviour\n' >none.conf
GPROF_MT_CONFIG=none.conf traced ./behaviour >with.none 2>err
[ $? -eq 17 ] || { tail -n 3 with.none; cat err; fail "none: the exit status changes when traced"; }
diff without with.none || fail "none: the transcripts differ"
alike all 'mode = all'
events >events
no_complaint

# Each cancelled condition wait reacquired its mutex; a cancelled semaphore wait only began.
waits=$(grep -Ec '^-- cancelled .*(cond|cnd)_(wait|timedwait|clockwait)' without)
[ "$waits" -gt 20 ] || fail "expected more than 20 cancelled waits, got $waits"
expect "$waits" ' cond_(timed)?wait result=125 '
# robust mutexes were acquired with EOWNERDEAD
[ "$(grep -c ' mutex_lock result=130 ' events)" -ge 16 ] || fail "expected at least 16 locks with EOWNERDEAD"

# With the program's own wrappers (ld --wrap) around all these functions.
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
