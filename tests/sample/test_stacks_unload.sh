#!/bin/bash
# SPDX-License-Identifier: MIT
# Samples in a library between its last destructor and its unmapping belong to it, and do not make it count as loaded
# again: another library at its addresses has its own calls, samples and call paths.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"
need jq

cat >library.c <<'END_C'
#include "burn.h"
#define NOINLINE __attribute__((noinline, noipa))

/* In .fini, which runs after __cxa_finalize(). A call counted there would mean that the library is in use again. */
NOINLINE __attribute__((no_instrument_function, used)) void LATE(void)
{
	uint64_t end = cpu_ns() + 30 * UINT64_C(1000000);

	while (cpu_ns() < end)
		for (unsigned i = 0; i < 10000; i++)
			burn_sink += i;
}
__asm__(".section .fini,\"ax\",@progbits\n\tcall " LATE_NAME "@PLT\n\t.text");

NOINLINE void CALLED(void)
{
	burn_ms(2);
}

NOINLINE void f(void)
{
	for (int i = 0; i < CALLS; i++)
		CALLED();
}
END_C
cat >main.c <<'END_C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *run(const char *name)
{
	void *library = dlopen(name, RTLD_NOW);
	void (*f)(void) = (void (*)(void))(library ? dlsym(library, "f") : NULL);

	if (!f)
		exit(2);
	f();
	if (dlclose(library))
		exit(3);
	return (void *)f;
}

int main(int argc, char **argv)
{
	void *first = NULL;

	if (argc > 1) {
		/* Loaded again, and in use until the end. */
		void *one = run("./libone.so"), *again = dlopen("./libone.so", RTLD_NOW);
		void (*f)(void) = (void (*)(void))dlsym(again, "f");

		f();
		return one == (void *)f ? 0 : 77;
	}
	for (int i = 0; i < 4; i++) {
		void *one = run("./libone.so"), *two = run("./libtwo.so");

		if (one != two || (first && first != one))
			return 77;
		first = one;
	}
	return 0;
}
END_C
library()
{
	"$CC" -std=gnu17 -D_GNU_SOURCE -O1 -g "$2" -shared -fPIC -I"$GM_TOP/tests/sample/programs" -DCALLED="$1" \
		-DLATE="late_$1" -DLATE_NAME="\"late_$1\"" -DCALLS="$3" -o "lib$1.so" library.c || fail "cannot compile"
}
for flag in -pg -O1; do
	library one "$flag" 10
	library two "$flag" 20
	"$CC" -O1 -g "$flag" -o main main.c -ldl || fail "cannot compile"
	rm -rf gprof-mt.data
	"$gprof_mt" record -q --set kernel.source=none --set sample.hz=1000 --set sample.stacks=on --set sync.mode=off \
		-- ./main
	case $? in
	0) ;;
	77) skip "the loader does not use an address again" ;;
	*) fail "$flag: exit status $?" ;;
	esac
	"$gprof_mt" report --format json flat callgraph calltree quality >report.json || fail "report"
	if [ "$flag" = -pg ]; then
		same "calls" "one 40
two 80" "$(jq -r '.functions[] | select(.name == "one" or .name == "two") | "\(.name) \(.calls)"' report.json | sort)"
	else
		jq -e '[.arcs[] | select(.from == "f" and (.to == "one" or .to == "two")) | .to] | unique == ["one", "two"]' \
			report.json >/dev/null || { jq .arcs report.json; fail "callers"; }
	fi
	# All are in a function with that name, and each function has some.
	for function in late_one late_two; do
		jq -e --arg name $function '[.functions[] | select(.name == $name)][0].samples > 0' report.json >/dev/null ||
			{ jq -c '.functions[]' report.json; fail "$flag: no sample in $function"; }
	done
	# Paths do not lead from one library to the other.
	jq -e '[.arcs[] | select((.from | test("one")) and (.to | test("two")) or (.from | test("two")) and
		(.to | test("one")))] == []' report.json >/dev/null || { jq .arcs report.json; fail "mixed paths"; }
	PYTHONPATH=$GM_TOP/tests/sample/programs python3 "$GM_TOP/tests/sample/programs/stacks.py" sums gprof-mt.data ||
		fail "$flag: sums"
	# The same library again at the same addresses: one row for each function.
	rm -rf gprof-mt.data
	"$gprof_mt" record -q --set kernel.source=none --set sample.hz=1000 --set sample.stacks=on --set sync.mode=off \
		-- ./main again || fail "$flag: again: exit status $?"
	"$gprof_mt" report --format json flat callgraph >report.json || fail "report"
	same "$flag: rows of a library that was loaded again" "1 1" "$(jq -r '[
		([.functions[] | select(.name == "burn_some")] | length),
		([.arcs[] | select(.from == "f" and .to == "one")] | length)] | join(" ")' report.json)"
done
exit 0
