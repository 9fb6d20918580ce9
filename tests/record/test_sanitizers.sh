#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs with a sanitizer in a shared library, which must be loaded first, behave the same and are recorded;
# their children get no additional environment variables.
. "$GM_TOP/tests/lib.sh"

cat >app.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *work(void *arg)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mutex);
		total++;
		pthread_mutex_unlock(&mutex);
	}
	return arg;
}

/* With an argument it reads freed memory. */
int main(int argc, char **argv)
{
	pthread_t threads[2];
	volatile char *block;

	(void)argv;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	fflush(stdout);
	if (system("env | grep -cE '^(LD_PRELOAD|[A-Z]+SAN_OPTIONS)='; exit 0"))
		return 1;
	if (argc > 1) {
		block = malloc(10);
		free((void *)block);
		return block[1] ? 2 : 3;
	}
	printf("total %d\n", total);
	return 5;
}
END
cat >settings.c <<'END'
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "exitcode=42";
}
END

# same_as_bare ARGUMENT...: ./app ends and prints as without record; returns 77 if it does not run here.
same_as_bare()
{
	local bare status
	./app "$@" >bare.out 2>bare.err
	bare=$?
	[ $# -gt 0 ] || [ $bare = 5 ] || return 77
	rm -rf gprof-mt.data
	"$gprof_mt" record --profile applic-only -o gprof-mt.data ./app "$@" >out 2>err
	status=$?
	[ $status = $bare ] || fail "$what $*: expected exit status $bare, got $status; $(cat err)"
	# The first line is the child's, which has more in LD_PRELOAD.
	diff <(awk -v more=$more 'NR == 1 { $0 += more } 1' bare.out) out || fail "$what $*: see above"
	diff <(grep -oE 'ERROR: [A-Za-z]+: [a-z-]+' bare.err) <(grep -oE 'ERROR: [A-Za-z]+: [a-z-]+' err) ||
		fail "$what $*: the messages changed: $(cat err)"
}

recorded()
{
	"$gprof_mt" report --format json sync >sync.json || fail "$what: no report"
	jq -e '[.sync[] | select(.function == "pthread_mutex_lock" and .calls == 100)] | length == 2' \
		sync.json >/dev/null || fail "$what: expected two threads with 100 locks: $(cat sync.json)"
}

tried=0
for compiler in "$CC -pg" clang; do
	for sanitizer in address thread; do
		what="$compiler -fsanitize=$sanitizer" more=1
		$compiler -fsanitize=$sanitizer -g -O1 -pthread -o app app.c 2>/dev/null ||
			{ echo "$what is not installed"; continue; }
		same_as_bare || { echo "$what does not run here"; continue; }
		recorded
		[[ "$what" != *-pg* ]] || "$gprof_mt" report --format json callgraph |
			jq -e '[.arcs[] | select(.to == "work") | .calls] | add == 2' >/dev/null ||
			fail "$what: no call graph"
		if [[ "$what" == *-pg*address ]]; then
			same_as_bare fault
			recorded
		fi
		tried=$((tried + 1))
	done
done
[ $tried -gt 0 ] || skip "no sanitizer runs here"

# AddressSanitizer is set to refuse preloaded libraries: nothing is recorded, and a message tells so.
what="own settings" more=0
$CC -fsanitize=address -g -pthread -o app app.c settings.c 2>/dev/null || exit 0
same_as_bare || exit 0
grep -q 'no synchronization: ./app has an AddressSanitizer that is set to refuse' err || fail "$(cat err)"
same_as_bare fault
# Set to accept them: the program is recorded.
export ASAN_OPTIONS=verify_asan_link_order=0
"$gprof_mt" record -q --profile applic-only -o gprof-mt.data ./app >out 2>err
[ $? = 5 ] && [ ! -s err ] || fail "set to accept preloaded libraries: $(cat err)"
recorded
exit 0
