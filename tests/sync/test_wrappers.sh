#!/bin/bash
# SPDX-License-Identifier: MIT
# Two locks are used by two functions through one wrapper, in C and C++, optimized and inlined or not: the call sites of
# initialization, waiters and holders are the calls of the wrapper. Functions that do more, or are called through
# a pointer, are no wrappers.
. "$GM_TOP/tests/sync/common.sh"
need jq
unset GPROF_MT_CONFIG LD_PRELOAD

# line FILE NAME: the number of the line with this comment
line() { grep -nF -- "/* $2 */" "$1" | head -n 1 | cut -d: -f1; }

# sites FILTER: the sites that it finds in `locks`, sorted
sites() { "$gprof_mt" report -i d --format json locks | jq -r "$1" | sort -u; }

# check FILE INIT_OF_A INIT_OF_B LOCK_OF_A LOCK_OF_B: each lock has its own name, and its waiter's and holder's site
check()
{
	local file=$1 object lock name
	shift
	rm -rf d
	"$gprof_mt" record -q --set kernel.source=none --set sync.mode="$mode" -o d -- ./program ||
		fail "$what: exit status $?"
	for object in 0 1; do
		name=${*:1+object:1} lock=${*:3+object:1}
		name="mutex at ${name% *} ($file:$(line "$file" "${name##* }"))"
		lock="${lock% *} ($file:$(line "$file" "${lock##* }"))"
		same "$what: acquired at" "$lock" "$(sites ".locks[] | select(.group == \"$name\") | .sites[].site")"
		same "$what: held since" "$lock" \
			"$(sites ".locks[] | select(.group == \"$name\") | .sites[].holders[]?.site")"
	done
}

# same WHAT EXPECTED GOT
same() { [ "$2" = "$3" ] || { "$gprof_mt" report -i d locks; fail "$1: expected '$2', got '$3'"; }; }

# The second thread takes the lock when the first holds it, and the first releases it when the second waits.
cat >steps.h <<'END'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t *awaited;
static void until_awaited(void)
{
	while (__atomic_load_n(&awaited->__data.__lock, __ATOMIC_ACQUIRE) != 2)
		;
}
static void until_taken(void)
{
	while (__atomic_load_n(&awaited->__data.__lock, __ATOMIC_ACQUIRE) == 0)
		;
}
END
cat >c.c <<'END'
#include <stdio.h>
#include "steps.h"
struct mutex { pthread_mutex_t inner; };
static int is_second(void);
static __thread int second;
void mutex_create(struct mutex *m)
{
	if (pthread_mutex_init(&m->inner, NULL) != 0)
		abort();
}
int mutex_enter(struct mutex *m)
{
	int error = pthread_mutex_lock(&m->inner);

	if (error != 0) {
		fprintf(stderr, "error %d\n", error);
		abort();
	}
	return 0;
}
int mutex_enter_nested(struct mutex *m)
{
	return mutex_enter(m) + 1;
}
int mutex_exit(struct mutex *m)
{
	if (pthread_mutex_unlock(&m->inner) != 0)
		abort();
	return 0;
}
static int is_second(void) { return second; }
struct mutex *a, *b;
static void use_a(void)
{
	mutex_enter_nested(a); /* A */
	if (!is_second())
		until_awaited();
	mutex_exit(a);
}
static void use_b(void)
{
	mutex_enter(b); /* B */
	if (!is_second())
		until_awaited();
	mutex_exit(b);
}
static void *other(void *unused)
{
	second = 1;
	until_taken();
	use_a();
	return unused;
}
static void *other_b(void *unused)
{
	second = 1;
	until_taken();
	use_b();
	return unused;
}
static void together(struct mutex *m, void *(*routine)(void *), void (*use)(void))
{
	pthread_t thread;

	awaited = &m->inner;
	if (pthread_create(&thread, NULL, routine, NULL) != 0)
		exit(1);
	use();
	pthread_join(thread, NULL);
}
int main(void)
{
	a = malloc(sizeof(*a));
	b = malloc(sizeof(*b));
	mutex_create(a); /* INIT_A */
	mutex_create(b); /* INIT_B */
	together(a, other, use_a);
	together(b, other_b, use_b);
	return 0;
}
END
cat >cc.cc <<'END'
#include <mutex>
#include "steps.h"
#ifndef APART
#define APART __attribute__((noinline))
#endif
class Mutex {
public:
	APART Mutex() { if (pthread_mutex_init(&inner, nullptr)) abort(); }
	APART void lock() { if (pthread_mutex_lock(&inner)) throw 1; }
	APART void unlock() { if (pthread_mutex_unlock(&inner)) abort(); }
	pthread_mutex_t inner;
};
static thread_local bool second;
static Mutex *a, *b;
APART void use_a()
{
	std::lock_guard<Mutex> guard(*a); /* A */
	if (!second)
		until_awaited();
}
APART void use_b()
{
	std::lock_guard<Mutex> guard(*b); /* B */
	if (!second)
		until_awaited();
}
template <void (*use)()> static void *other(void *unused)
{
	second = true;
	until_taken();
	use();
	return unused;
}
static void together(Mutex *m, void *(*routine)(void *), void (*use)())
{
	pthread_t thread;
	awaited = &m->inner;
	if (pthread_create(&thread, nullptr, routine, nullptr))
		exit(1);
	use();
	pthread_join(thread, nullptr);
}
int main()
{
	a = new Mutex; /* INIT_A */
	b = new Mutex; /* INIT_B */
	together(a, other<use_a>, use_a);
	together(b, other<use_b>, use_b);
}
END

for mode in all contended; do
	for flags in -O0 "-O0 -pg" "-O2 -fno-inline" "-O2 -fno-inline -no-pie -fno-plt" "-O1 -fno-inline -Wl,-z,now" \
		-O2 "-O3 -gdwarf-4"; do
		what="$mode, $flags"
		# shellcheck disable=SC2086 # the words are split on purpose
		"$CC" -std=gnu17 -g $flags -pthread -o program c.c || fail "cannot compile: $flags"
		check c.c "main INIT_A" "main INIT_B" "use_a A" "use_b B"
	done
	for flags in -O0 -O2 "-O2 -DAPART=inline"; do
		command -v g++ >/dev/null || continue
		what="$mode, g++ $flags"
		# shellcheck disable=SC2086 # the words are split on purpose
		g++ -g $flags -pthread -o program cc.cc || fail "cannot compile: $flags"
		check cc.cc "main INIT_A" "main INIT_B" "use_a() A" "use_b() B"
	done
done
echo "wrappers: ok"

# diff keeps the two locks apart.
"$CC" -std=gnu17 -g -O0 -pthread -o program c.c
for run in one two; do
	"$gprof_mt" record -q --set kernel.source=none -o $run -- ./program || fail "$run: exit status $?"
done
"$gprof_mt" diff --format json one two locks >diff.json || fail "diff: exit status $?"
for name in INIT_A INIT_B; do
	[ "$(grep -c "\"mutex at main (c.c:$(line c.c $name))\"" diff.json)" -ge 1 ] || fail "diff: no $name: $(cat diff.json)"
done
echo "diff: ok"

# The first operation of a child of fork, which has no folder yet, is in a wrapper that its parent never called; another
# child's is in a handler.
cat >forks.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, handled = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static int mutex_enter(pthread_mutex_t *mutex)
{
	if (pthread_mutex_lock(mutex) != 0)
		abort();
	return 1;
}
static void handler(int number)
{
	mutex_enter(&handled); /* HANDLED */
	pthread_mutex_unlock(&handled); /* HANDLED_END */
	(void)number;
}
static void child(int i)
{
	if (i == 0) {
		mutex_enter(&first); /* FIRST */
		pthread_mutex_unlock(&first); /* FIRST_END */
	} else {
		signal(SIGUSR1, handler);
		raise(SIGUSR1);
	}
	exit(0);
}
int main(void)
{
	int status = 0, bad = 0;

	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid == 0)
			child(i);
		bad |= waitpid(pid, &status, 0) != pid || status != 0;
	}
	return bad;
}
END
for flags in -O0 "-O2 -pg"; do
	# shellcheck disable=SC2086 # the words are split on purpose
	"$CC" -std=gnu17 -g $flags -pthread -o program forks.c || fail "cannot compile forks.c"
	rm -rf d
	"$gprof_mt" record -q --set kernel.source=none --set sync.mode=all -o d -- ./program || fail "forks: exit status $?"
	same "forks, $flags" "child (forks.c:$(line forks.c FIRST))
handler (forks.c:$(line forks.c HANDLED))" "$(sites '.locks[] | select(.type == "mutex") | .sites[].site')"
	same "forks, $flags: contradictions" 0 "$("$gprof_mt" report -i d --format json quality | jq '.quality | length')"
done
echo "children: ok"

# No wrappers: a function that also unlocks, one that calls more, by name or not, and one called through a pointer.
cat >none.c <<'END'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t both = PTHREAD_MUTEX_INITIALIZER, more = PTHREAD_MUTEX_INITIALIZER,
		       pointed = PTHREAD_MUTEX_INITIALIZER, hooked = PTHREAD_MUTEX_INITIALIZER;
static int n;
int (*volatile hook)(void) = getppid;
__attribute__((noinline)) static int use_both(void)
{
	pthread_mutex_lock(&both); /* BOTH */
	n++;
	return pthread_mutex_unlock(&both);
}
__attribute__((noinline)) static int take_more(void)
{
	pthread_mutex_lock(&more); /* MORE */
	return getppid();
}
__attribute__((noinline)) static int take_and_call(void)
{
	pthread_mutex_lock(&hooked); /* HOOKED */
	return hook() + 1;
}
static int take(void)
{
	return pthread_mutex_lock(&pointed) + 1; /* POINTED */
}
int main(void)
{
	int (*volatile called)(void) = take;
	return use_both() + (take_more() == 0) + (take_and_call() == 0) + called() == 1 ? 0 : 1;
}
END
for flags in -O0 "-O2 -fno-inline"; do
	# shellcheck disable=SC2086 # the words are split on purpose
	"$CC" -std=gnu17 -D_GNU_SOURCE -g $flags -pthread -o program none.c || fail "cannot compile none.c"
	rm -rf d
	"$gprof_mt" record -q --set kernel.source=none --set sync.mode=all -o d -- ./program || fail "none: exit status $?"
	same "no wrappers, $flags" "take (none.c:$(line none.c POINTED))
take_and_call (none.c:$(line none.c HOOKED))
take_more (none.c:$(line none.c MORE))
use_both (none.c:$(line none.c BOTH))" "$(sites '.locks[] | select(.type == "mutex") | .sites[].site')"
done
echo "others: ok"
