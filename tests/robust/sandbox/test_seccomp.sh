#!/bin/bash
# SPDX-License-Identifier: MIT
# A program traps a system call that the slow paths of the libraries make; the test repeats this for each
# such call.  The program's handler locks, calls -pg code, and returns an error or jumps out; or the
# filter itself returns an error or kills.  The program ends as bare, and its handler runs as often: no
# call of the libraries reaches a filter that was installed through libc.  If the program installs it by
# a syscall instruction, calls of the libraries reach it, and the libraries survive the error.
. "$GM_TOP/tests/lib.sh"

# seal.c lists exactly the system calls that the sources of the slow paths contain; libc/openmp.c makes its own in a
# constructor. access/step/ lists calls of the program, and makes its own only if no filter was installed.
calls=$(cd "$GM_TOP" && find libgmon-mt libsync-trace -name '*.[ch]' ! -name seal.c ! -name interpose.c ! -name collector.c ! -name recorder.c \
	! -path '*/libc/openmp.c' ! -path '*/access/step/*' \
	-exec grep -ohE '\<SYS_[a-z0-9_]+' {} + | sort -u)
listed=$(grep -oE '\<SYS_[a-z0-9_]+' "$GM_TOP/libgmon-mt/runtime/sys/seal.c" | sort -u)
[ "$calls" = "$listed" ] || fail "seal.c differs from the slow paths: $(diff <(echo "$listed") <(echo "$calls") | grep '^[<>]' | tr '\n' ' ')"
numbers=$(awk -v calls="$calls" 'BEGIN { split(calls, names, "\n"); for (i in names) wanted["__NR_" substr(names[i], 5)] = 1 }
	$1 == "#define" && $2 in wanted { print substr($2, 6) "=" $3 }' /usr/include/x86_64-linux-gnu/asm/unistd_64.h)
# A library that is loaded before the filter is installed, and first called after.
echo 'void plug(void); void plug(void) { __asm__ volatile(""); }' >plug.c
"$CC" -pg -shared -fPIC -o plug.so plug.c || fail "cannot compile plug.c"
build trapped -w -ldl
mv trapped bare
build_pg trapped -w -ldl
printf '[calls]\nmode = history\n[sample]\nhz = 1000\n' >history.conf
printf '[sample]\nhz = 1000\n' >count.conf
runs=0 skipped=0
for number in $numbers; do
	for way in answer jump errno kill; do
		expected=$(TELL_TRAPPED=1 timeout 60 ./bare "${number#*=}" $way 3 2>/dev/null)
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
			got=$(TELL_TRAPPED=$tell GPROF_MT_CONFIG=$PWD/$config.conf LD_PRELOAD=$libsync fresh \
				timeout 60 ./trapped "${number#*=}" $way 3 $raw 2>err) ||
				fail "${number%=*} $way $raw $config: exit status $?: $(tail -n 3 err)"
			[ "$got" = "$expected" ] ||
				fail "${number%=*} $way $raw $config: expected '$expected', found '$got'"
			runs=$((runs + 1))
		done
	done
done
# A handler whose events are trapped again nests: it must not use up a small stack.
openat=$(sed -n 's/^openat=//p' <<<"$(tr ' ' '\n' <<<"$numbers")")
expected=$(ulimit -s 256 && timeout 60 ./bare "$openat" answer 3)
got=$(ulimit -s 256 && GPROF_MT_CONFIG=$PWD/history.conf LD_PRELOAD=$libsync fresh timeout 60 ./trapped "$openat" answer 3 raw 2>err) &&
	[ "$got" = "$expected" ] ||
	fail "nested handlers on a stack of 256 KiB: expected '$expected', found '$got' and exit status $?: $(tail -n 3 err)"
# The handler of a sample reaches a filter that no library sees: SIGSYS must not be blocked in it.
build_pg sampled_filter -w
for _ in 1 2 3; do
	got=$(GPROF_MT_CONFIG=$PWD/count.conf fresh timeout 60 ./sampled_filter 100 2>err) && [ "$got" = 1 ] ||
		fail "a sample behind a filter: expected 1 and exit status 0, found '$got' and $?: $(tail -n 3 err)"
done
# If the kernel refuses a filter for all threads, the program is recorded as without one.
build_pg filter_refused -D_GNU_SOURCE
LD_PRELOAD=$libsync fresh timeout 60 ./filter_refused 2>err
status=$?
[ $status != 2 ] || fail "the kernel accepted a filter that the test expects it to refuse"
[ $status = 7 ] && [ ! -s err ] || fail "refused filter: exit status $status: $(cat err)"
found=$(python3 "$GM_TOP/tests/robust/programs/losses.py" gprof-mt.data 100) && [ "$found" = "100 0 0" ] ||
	fail "refused filter: expected '100 0 0' (calls, lost, events lost), found '$found'"
echo "$runs runs with a trapped system call; $skipped that the bare program does not survive"
[ $runs -ge 100 ] || fail "expected at least 100 runs, found $runs"
exit 0
