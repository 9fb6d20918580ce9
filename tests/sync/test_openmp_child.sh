#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program with libgomp executes one without, which inherits our names of libgomp's functions, and loads a module
# with a libgomp of its own under another name, as Python packages have: the module must call that one, and
# dlsym() must not find the names.
. "$GM_TOP/tests/sync/common.sh"

"$CC" -fopenmp -x c - -o none <<<'int main(void) { return 0; }' 2>none.err || skip "the compiler has no OpenMP"

LC_ALL=C sed 's/libgomp\.so\.1/libgomq.so.1/g' "$("$CC" -print-file-name=libgomp.so.1)" >libgomq.so.1
cat >module.c <<'END'
#include <omp.h>
int excludes(void)
{
	omp_lock_t lock;
	int first, second;

	omp_init_lock(&lock);
	first = omp_test_lock(&lock);
	second = omp_test_lock(&lock);
	return 10 * first + second;
}
END
cat >child.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	void *module;
	int (*excludes)(void);

	printf("found: %d\n", dlsym(RTLD_DEFAULT, "omp_test_lock") != NULL);
	dlerror();
	module = dlopen("./module.so", RTLD_NOW);
	excludes = module != NULL ? (int (*)(void))dlsym(module, "excludes") : NULL;
	printf("tries: %d, error: %s\n", excludes != NULL ? excludes() : -1, dlerror());
	return 0;
}
END
cat >parent.c <<'END'
#include <unistd.h>
int main(void)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp barrier
	}
	execl("./child", "child", (char *)0);
	return 1;
}
END
"$CC" -O1 -fPIC -fopenmp -c module.c && "$CC" -shared module.o -o module.so ./libgomq.so.1 -Wl,-rpath,"$PWD" &&
	"$CC" -O1 child.c -o child -ldl && "$CC" -O1 -fopenmp parent.c -o parent || fail "cannot compile"
! readelf -d module.so | grep -q 'libgomp\.so' || fail "the module needs libgomp under its usual name"

./parent >bare || fail "bare: exit status $?"
same "bare" "found: 0
tries: 10, error: (null)" "$(cat bare)"
for mode in all contended; do
	fresh "$gprof_mt" record -q --set kernel.source=none --set sync.mode=$mode -- ./parent >out || fail "exit status $?"
	same "$mode" "$(cat bare)" "$(cat out)"
	"$gprof_mt" report --format json sync | jq -e '[.sync[] | select(.function == "GOMP_barrier")] | length > 0' \
		>/dev/null || fail "$mode: the barriers of the program with libgomp are not recorded"
done
exit 0
