#!/bin/bash
# SPDX-License-Identifier: MIT
# A program traps a system call that our slow paths make, for each of them.  Its handler answers by
# an error or jumps out, and itself locks and calls -pg code; or the filter answers by an error, or
# kills.  The program ends as without us, and its handler runs as often: no call of ours meets a
# filter that is installed through libc.  Where the program installs it by an instruction of its own,
# handlers that return an error are met, and withstood.
. "$GM_TOP/tests/lib.sh"

# The calls of the slow paths, by the sources: seal.c has them all, and no others.
calls=$(cd "$GM_TOP" && find libgmon-mt libsync-trace -name '*.[ch]' ! -name seal.c ! -name interpose.c ! -name collector.c ! -name recorder.c \
	-exec grep -ohE '\<SYS_[a-z0-9_]+' {} + | sort -u)
listed=$(grep -oE '\<SYS_[a-z0-9_]+' "$GM_TOP/libgmon-mt/runtime/seal.c" | sort -u)
[ "$calls" = "$listed" ] || fail "seal.c differs from the slow paths: $(diff <(echo "$listed") <(echo "$calls") | grep '^[<>]' | tr '\n' ' ')"
numbers=$(awk -v calls="$calls" 'BEGIN { split(calls, names, "\n"); for (i in names) wanted["__NR_" substr(names[i], 5)] = 1 }
	$1 == "#define" && $2 in wanted { print substr($2, 6) "=" $3 }' /usr/include/x86_64-linux-gnu/asm/unistd_64.h)
# Loaded before the filter, and called behind it for the first time.
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
			got=$(TELL_TRAPPED=$tell GPROF_MT_CONFIG=$PWD/$config.conf LD_PRELOAD=$libsync fresh \
				timeout 20 ./trapped "${number#*=}" $way 3 $raw 2>err) ||
				fail "${number%=*} $way $raw $config: exit status $?: $(tail -n 3 err)"
			[ "$got" = "$expected" ] ||
				fail "${number%=*} $way $raw $config: $got, not $expected"
			runs=$((runs + 1))
		done
	done
done
# A filter that no library sees, met by the handler of a sample: SIGSYS must not be blocked there.
build_pg sampled_filter -w
for _ in 1 2 3; do
	got=$(GPROF_MT_CONFIG=$PWD/count.conf fresh timeout 60 ./sampled_filter 100 2>err) && [ "$got" = 1 ] ||
		fail "a sample behind a filter: exit status $?, $got: $(tail -n 3 err)"
done
# A filter for all threads that is refused: recorded as without.
build_pg filter_refused -D_GNU_SOURCE
LD_PRELOAD=$libsync fresh timeout 20 ./filter_refused 2>err
status=$?
[ $status != 2 ] || fail "the kernel took a filter that it should refuse"
[ $status = 7 ] && [ ! -s err ] || fail "refused filter: exit status $status: $(cat err)"
found=$(python3 "$programs/losses.py" gprof-mt.data 100) && [ "$found" = "100 0 0" ] ||
	fail "refused filter: $found of 100 calls"
echo "$runs runs with a trapped system call; $skipped that the bare program does not survive"
[ $runs -ge 100 ] || fail "only $runs runs"
exit 0
