#!/bin/bash
# SPDX-License-Identifier: MIT
# A program traps a system call that our slow paths make, for each of them.  Its handler answers by
# an error or jumps out, and itself locks and calls -pg code; or the filter answers by an error, or
# kills.  The program ends as without us, and its handler runs as often: no call of ours meets a
# filter that is installed through libc.  Where the program installs it by an instruction of its own,
# handlers that return an error are met, and withstood.
. "$GM_TOP/tests/robust/common.sh"

numbers=$(awk '/^#define __NR_(openat|close|read|write|pwrite64|pread64|pwritev|ftruncate|fallocate|mmap|munmap|madvise|rt_sigprocmask|rt_sigaction|gettid|getpid|prctl|tgkill|timer_create|timer_settime|timer_delete|clock_gettime|prlimit64|mkdir|rename|renameat|unlinkat|unlink|fstat|getppid|clock_getres|uname|sigaltstack)[[:space:]]/ { print substr($2, 6) "=" $3 }' \
	/usr/include/x86_64-linux-gnu/asm/unistd_64.h)
build trapped -w
mv trapped bare
build_pg trapped -w
printf '[calls]\nmode = history\n[sample]\nhz = 1000\n' >history.conf
printf '[sample]\nhz = 1000\n' >count.conf
runs=0 skipped=0
for number in $numbers; do
	for way in answer jump errno kill; do
		expected=$(TELL_TRAPPED=1 timeout 20 ./bare "${number#*=}" $way 3 2>/dev/null)
		[ -n "$expected" ] || { skipped=$((skipped + 1)); continue; }
		for raw in "" raw; do
			tell=1
			if [ -n "$raw" ]; then
				[[ $way == errno ||
					$way$number =~ ^answer(openat|mmap|fallocate|pwrite64|ftruncate|madvise|renameat)= ]] ||
					continue
				tell='' expected=${expected%%$'\n'*}
			fi
			config=$((runs % 4 / 2))
			[ $config = 0 ] && config=count || config=history
			got=$(TELL_TRAPPED=$tell GPROF_MT_CONFIG=$PWD/$config.conf LD_PRELOAD=$LIBSYNC fresh \
				timeout 20 ./trapped "${number#*=}" $way 3 $raw 2>err) ||
				fail "${number%=*} $way $raw $config: exit status $?: $(tail -n 3 err)"
			[ "$got" = "$expected" ] ||
				fail "${number%=*} $way $raw $config: $got, not $expected"
			runs=$((runs + 1))
		done
	done
done
echo "$runs runs with a trapped system call; $skipped that the bare program does not survive"
[ $runs -ge 100 ] || fail "only $runs runs"
exit 0
