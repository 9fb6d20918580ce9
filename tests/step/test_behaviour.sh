#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that are stepped print and return what they do without: signals, jumps, faults, ends of processes and
# threads in critical sections, small stacks, handlers of SIGTRAP. Under a debugger nothing is stepped.
. "$GM_TOP/tests/step/common.sh"

export STEPS=20000 # a thread that is cancelled computes without end
cases="signals handler_locks handler_jumps alternate_stack timer_signals blocked deadly faults unmaps jumps forks vforks
	threads small_stacks coroutines flags errors vectors waits heap traps"

# n_flagged MASK: the number of segments with one of these flags.
n_flagged()
{
	python3 -c '
import glob, sys
from segments import segments_of
print(sum(bool(segment.flags & int(sys.argv[1])) for trace in glob.glob("d/[0-9]*/accesses") for segment in segments_of(trace)))' "$1"
}

for flags in "-O2 -Wl,-z,lazy" "-O1 -Wl,-z,now"; do
	# shellcheck disable=SC2086 # several flags
	gcc $flags -g -o behaviour "$programs/behaviour.c" -pthread -lrt || fail "cannot compile"
	for case in $cases; do
		./behaviour "$case" >expected 2>&1
		status=$?
		stepped d ./behaviour "$case" >out 2>err
		[ $? = $status ] || fail "$case ($flags): status $? instead of $status: $(cat out)"
		# record says if sections were not stepped, in threads that block SIGTRAP for example.
		! grep -v '^gprof-mt: lost: runtime libraries: critical sections not stepped' err ||
			fail "$case ($flags): $(cat err)"
		cmp out expected || fail "$case ($flags): $(diff expected out)"
		[ "$(n_flagged 4)" != 0 ] || fail "$case ($flags): nothing was stepped"
	done
done

# The reasons for which sections are abandoned are those of the program.
for case in handler_jumps blocked forks coroutines; do
	stepped d ./behaviour "$case" >out 2>&1
	[ "$(n_flagged 8)" != 0 ] || fail "$case: no section was abandoned"
done

# A handler of the program: one line says that nothing is stepped. The reasons of abandoned sections are counted.
cat >handled.c <<'END'
#include <pthread.h>
#include <signal.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void on_trap(int signal)
{
	(void)signal;
}
int main(void)
{
	signal(SIGTRAP, on_trap);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return raise(SIGTRAP);
}
END
gcc -o handled handled.c || fail "cannot compile"
stepped d ./handled >out 2>&1 || fail "handled: $(cat out)"
grep -q 'critical sections not stepped: the program handles SIGTRAP' out || fail "handled: $(cat out)"
[ "$(n_flagged 4)" = 0 ] || fail "stepped although the program handles SIGTRAP"
stepped d ./behaviour forks >out 2>&1
"$gprof_mt" report -i d quality >out || fail "report: $(cat out)"
grep -q 'critical sections given up: a system call' out || fail "report quality: $(cat out)"

# Ignored by the parent, or blocked: nothing is stepped, and the program still ignores it.
(
	trap '' TRAP
	stepped d ./behaviour signals >out 2>&1
	stepped d2 sh -c 'kill -TRAP $$; echo ignored' >out2 2>&1
)
grep -q '1 handled' out || fail "ignored: $(cat out)"
grep -q ignored out2 || fail "no longer ignored: $(cat out2)"
[ "$(n_flagged 4)" = 0 ] || fail "stepped although SIGTRAP is ignored"

if command -v gdb >/dev/null && gdb -q -batch -ex run -ex quit /bin/true 2>&1 | grep -q 'exited normally'; then
	stepped d gdb -q -batch -ex run -ex quit --args ./behaviour errors >out 2>&1
	grep -q '^errors: 9' out && ! grep -q SIGTRAP out || fail "in gdb: $(cat out)"
fi
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	stepped d strace -f -o trace ./behaviour signals >out 2>&1
	grep -q '1 handled' out || fail "under strace: $(cat out)"
	! grep -q 'TRAP_TRACE' trace || fail "under strace steps are seen"
fi

# Blocking calls in stepped sections are executed in libc, and counted.
cat >calls.c <<'END'
#include <poll.h>
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
	int ends[2], n = 0;
	char byte = 0;
	if (pipe(ends) != 0)
		return 1;
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&mutex);
		n += (int)write(ends[1], &byte, 1);
		n += (int)read(ends[0], &byte, 1);
		n += poll(NULL, 0, 0);
		pthread_mutex_unlock(&mutex);
	}
	return n;
}
END
gcc -O1 -Wl,-z,now -o calls calls.c -pthread || fail "cannot compile calls.c"
stepped d ./calls >out 2>&1
same "calls: exit status" 20 $?
"$gprof_mt" report -i d --format json quality >report.json || fail "report quality"
python3 - <<'END' || fail "calls: $(cat report.json)"
import json
rows = [row for row in json.load(open("report.json"))["quality"] if "blocking calls not recorded" in json.dumps(row)]
assert len(rows) == 1 and 30 in rows[0].values(), rows
END
