#!/bin/bash
# SPDX-License-Identifier: MIT
# Samples in a library without symbols have one row for each function, by its unwind tables, or one for the
# library without these; no sample is missing from the sum.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"
sampling 250

cat >hot.c <<-'END'
	#define NOINLINE __attribute__((noinline))
	static volatile long sum;
	static NOINLINE void first(long n) { for (long i = 0; i < n; i++) { sum += i; sum ^= n; sum -= 3; } }
	static NOINLINE void second(long n) { for (long i = 0; i < n; i++) { sum -= i; sum |= n; sum *= 5; } }
	void (*const hot_functions[])(long) = {first, second};
END
cat >main.c <<-'END'
	#include <time.h>
	extern void (*const hot_functions[])(long);
	int main(void)
	{
		struct timespec now = {0};
		while (now.tv_sec < 1) {
			hot_functions[0](100000);
			hot_functions[1](100000);
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		}
	}
END

# rows NAME: profiles ./main, prints the names of the rows of libhot.so
rows()
{
	fresh preloaded ./main >&2 || fail "$1: exit status $?"
	"$gprof_mt" report --format json flat summary >json || fail "$1: report"
	jq -e '([.functions[].samples // 0] | add) == .summary[0].samples and .summary[0].samples > 0' json >/dev/null ||
		{ cat json; fail "$1: the sum of the rows"; }
	jq -r '.functions[] | select(.samples > 0) | .name | select(startswith("libhot.so"))' json | sort
}

"$CC" -O1 -shared -fPIC -fasynchronous-unwind-tables -o libhot.so hot.c || fail "cannot compile"
"$CC" -O1 -pg -o main main.c -L. -lhot -Wl,-rpath,"$PWD" || fail "cannot compile"
nm libhot.so | awk '$3 == "first" || $3 == "second" { sub("^0*", "", $1); print "libhot.so+0x" $1 }' | sort >wanted
[ "$(wc -l <wanted)" = 2 ] || fail "$(nm libhot.so)"
strip --strip-all libhot.so
rows "unwind tables" >got
same "unwind tables" "$(cat wanted)" "$(cat got)"
"$CC" -O1 -shared -fPIC -fno-asynchronous-unwind-tables -fno-unwind-tables -s -o libhot.so hot.c ||
	fail "cannot compile"
rows "no unwind tables" >got
same "no unwind tables" "libhot.so, no symbols" "$(cat got)"
exit 0
