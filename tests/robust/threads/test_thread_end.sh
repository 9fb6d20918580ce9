#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread ends about as early as in the bare program: between the program's last instruction and the end
# of the task, it makes few system calls and waits for no file.  The test covers a former bug: the stack of
# a detached thread was given to another thread while the first still waited for its gmon file
# (pthread_detach/4-3 of the Open POSIX Test Suite crashed).
. "$GM_TOP/tests/lib.sh"

n=100
need strace
build ends -pg -L "$GM_BUILD" -Wl,-rpath,"$GM_BUILD" -lgmon_mt
mv ends ends.pg
build ends
printf '[sync]\nmode = all\n' >gprof-mt.conf

# check WAY LIMIT PRELOAD PROGRAM: after the last system call of the program, each thread makes at most
# LIMIT system calls, and none that may wait; then prints the times of another run
check()
{
	local way=$1 limit=$2 preload=$3 program=$4 threads most names median most_ns
	fresh timeout 120 strace -f -qq -e signal=none -E LD_PRELOAD="$preload" -o trace "./$program" $n >/dev/null ||
		fail "$way: exit status $?"
	awk '
		$2 ~ /^getpgid\(/ { seen[$1] = 1; n_threads++; next }
		!seen[$1] || $2 == "<..." || $2 == "+++" { next }
		{
			sub(/\(.*/, "", $2)
			names[$2] = 1
			n[$1]++
			if (n[$1] > most)
				most = n[$1]
		}
		END {
			printf "%d %d", n_threads, most
			for (name in names)
				printf " %s", name
			print ""
		}' trace >counted
	read -r threads most names <counted
	[ "$threads" -eq $n ] || fail "$way: expected $n threads, found $threads"
	! grep -qwE 'clone|openat|mmap|ftruncate|pwritev|stat' <<<"$names" || fail "$way: an ending thread calls $names"
	[ "$most" -le "$limit" ] || fail "$way: expected at most $limit system calls in an ending thread, found $most: $names"
	read -r median most_ns < <(fresh env LD_PRELOAD="$preload" "./$program" 400)
	echo "$way: $most system calls; $((median / 1000)) us, 9 of 10 below $((most_ns / 1000))"
}

check bare 3 "" ends # blocks signals, gives the stack's memory back, ends
check locks 7 "$libsync" ends
check calls 10 "" ends.pg
check both 14 "$libsync" ends.pg
