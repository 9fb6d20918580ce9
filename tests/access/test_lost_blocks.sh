#!/bin/bash
# SPDX-License-Identifier: MIT
# Blocks of the heap and frees of these that find no room are counted and reported; the program is not disturbed.
. "$GM_TOP/tests/access/common.sh"

# Under a filter of system calls no more files are made: most blocks are lost.
cat >frees.c <<'END'
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sock_filter code[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
int main(int argc, char **argv)
{
	const struct sock_fprog filter = {4, code};
	long sum = 0;
	(void)argv;
	for (long i = 0; i < (argc > 1 ? 200000 : 1000); i++) {
		volatile long *block = malloc(40);
		pthread_mutex_lock(&mutex);
		*block = i;
		sum += *block;
		pthread_mutex_unlock(&mutex);
		free((void *)block);
		if (i == 100 && argc > 1 &&
		    (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		     prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0))
			return 1;
	}
	printf("%ld\n", sum);
	return 3;
}
END
# shellcheck disable=SC2034 # for instrumented()
programs=$PWD
instrumented frees gcc
rm -rf d
record_all d ./frees sealed >out 2>err
same "exit status" 3 $?
same "output" 19999900000 "$(cat out)"
text='blocks of the heap, or frees of these, not recorded'
grep -qE "[0-9]+ $text|$text.* [0-9]+" err || fail "record: $(cat err)"
"$gprof_mt" report -i d --format json quality >report.json || fail "report quality"
grep -q "$text" report.json || fail "quality: $(cat report.json)"
"$gprof_mt" report -i d accesses >out || fail "report accesses"
grep -qE 'note: [0-9]+ blocks of the heap, or frees of these, were not written' out || fail "accesses: $(grep note out)"

# With room for all of them, nothing is said.
record_all d ./frees >out 2>err
! grep -q 'blocks of the heap' err || fail "with room: $(cat err)"
"$gprof_mt" report -i d quality >out || fail "report quality"
! grep -q 'blocks of the heap' out || fail "with room: $(cat out)"
