#!/bin/bash
# SPDX-License-Identifier: MIT
# A recording of 2,000 processes with a folder each: record lists all of their files, so the report is complete, and
# tells if one is missing.
. "$GM_TOP/tests/lib.sh"
need jq

N=2000
! with_sanitizers || N=200
cat >many.c <<'END_C'
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0, status, bad = 0;

	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			/* more than fits into the place of a child that does little */
			for (int op = 0; op < 2000; op++) {
				pthread_mutex_lock(&lock);
				pthread_mutex_unlock(&lock);
			}
			exit(0);
		}
		bad |= waitpid(pid, &status, 0) != pid || status != 0;
	}
	return bad;
}
END_C
"$CC" -std=gnu17 -O1 -g -pthread -o many many.c || fail "cannot compile"
"$gprof_mt" record --profile applic-only --set sync.mode=all --set sync.buffer=16K -o d -- ./many $N 2>err ||
	fail "exit status $?: $(cat err)"
grep -q '; complete$' err || fail "not complete: $(cat err)"
folders=(d/[0-9]*/)
[ ${#folders[@]} -ge $N ] || fail "expected $N folders, found ${#folders[@]}"
"$gprof_mt" report -i d --format json locks quality >report.json || fail "report"
same "operations" $((N * 2000)) "$(jq '[.locks[] | select(.type == "mutex").acquired] | add' report.json)"
same "problems" 0 "$(jq '.quality | length' report.json)"

# Each file is listed.
rm "${folders[N / 2]}"user/stream_0 || fail "no stream in ${folders[N / 2]}"
"$gprof_mt" report -i d --format json quality >report.json 2>err
grep -qF "${folders[N / 2]#d/}user" report.json err || fail "nothing is said about a missing stream: $(cat err)"
exit 0
