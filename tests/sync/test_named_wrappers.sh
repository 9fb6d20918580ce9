#!/bin/bash
# SPDX-License-Identifier: MIT
# [names] wrappers: a function that counts and makes system calls beside its lock is a wrapper if it is named, in C and
# C++, in the program or in a loaded library, with code of its own or inlined, under record or without it. A name that
# no function has is reported.
. "$GM_TOP/tests/sync/common.sh"
need jq
unset GPROF_MT_CONFIG LD_PRELOAD

# line FILE NAME: the number of the line with this comment
line() { grep -nF -- "/* $2 */" "$1" | head -n 1 | cut -d: -f1; }

# at FUNCTION FILE NAME: the call site in the line with this comment
at() { echo "$1 ($2:$(line "$2" "$3"))"; }

# sites: the call sites of mutexes, sorted
sites() { "$gprof_mt" report -i d --format json locks | jq -r '.locks[] | select(.type == "mutex") | .sites[].site' | sort -u; }

# take WRAPPERS COMMAND...: records the command
take()
{
	rm -rf d
	"$gprof_mt" record --set kernel.source=none --set sync.mode=all --set "names.wrappers=$1" -o d -- "${@:2}" \
		2>err || fail "$what: exit status $?: $(cat err)"
}

cat >c.c <<'END_C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static unsigned n_entered;
static INLINE int mutex_enter(pthread_mutex_t *mutex)
{
	if (getppid() == 0)
		return 1;
	n_entered++;
	if (pthread_mutex_trylock(mutex) == 0)
		return 0;
	return pthread_mutex_lock(mutex); /* INSIDE */
}
static INLINE void mutex_exit(pthread_mutex_t *mutex)
{
	n_entered -= (unsigned)(getppid() != 0);
	pthread_mutex_unlock(mutex);
}
__attribute__((noinline)) static void use_a(void)
{
	mutex_enter(&a); /* A */
	mutex_exit(&a); /* A_END */
}
__attribute__((noinline)) static void use_b(void)
{
	mutex_enter(&b); /* B */
	mutex_exit(&b); /* B_END */
}
int main(void)
{
	use_a();
	use_b();
	return n_entered != 0;
}
END_C
expected=$(printf '%s\n' "$(at use_a c.c A)" "$(at use_b c.c B)" | sort)
for flags in "-O0 -DINLINE=" "-O2 -DINLINE=__attribute__((noinline))" "-O2 -no-pie -DINLINE=__attribute__((noinline))" \
	"-O2 -DINLINE=__attribute__((always_inline))inline"; do
	what=$flags
	# shellcheck disable=SC2086 # the words are split on purpose
	"$CC" -std=gnu17 -D_GNU_SOURCE -g $flags -pthread -o program c.c || fail "cannot compile: $flags"
	take none ./program
	[ "$(sites)" != "$expected" ] || fail "$what: mutex_enter() is a wrapper without its name"
	take "mutex_enter, mutex_exit" ./program
	same "$what: call sites" "$expected" "$(sites)"
	! grep 'names.wrappers' err || fail "$what: a known name is reported"
	same "$what: problems" 0 "$("$gprof_mt" report -i d --format json quality | jq '.quality | length')"
	take "mutex_enter,mutex_leave" ./program
	grep -q "names.wrappers: no function of the program or its libraries has the name 'mutex_leave'" err ||
		fail "$what: nothing is said: $(cat err)"
	same "$what: names without a function" "names.wrappers: no function has this name: mutex_leave" \
		"$("$gprof_mt" report -i d --format json quality | jq -r '.quality[] | "\(.what): \(.where)"')"
done
echo "C: ok"

# Without record, by a configuration file.
"$CC" -std=gnu17 -D_GNU_SOURCE -DINLINE= -g -O0 -pthread -o program c.c || fail "cannot compile c.c"
printf '[sync]\nmode = all\n[names]\nwrappers = mutex_enter , mutex_gone\n[output]\ndir = d\n' >names.conf
rm -rf d
GPROF_MT_CONFIG=$PWD/names.conf LD_PRELOAD=$libsync ./program || fail "without record: exit status $?"
same "without record: call sites" "$expected" "$(sites)"
same "without record: names without a function" mutex_gone \
	"$("$gprof_mt" report -i d --format json quality | jq -r '.quality[].where')"

# A program without symbols: the names cannot be found, which is reported.
what=stripped
strip -o stripped program || fail "strip"
take mutex_enter ./stripped
same "stripped: names without a function" mutex_enter \
	"$("$gprof_mt" report -i d --format json quality | jq -r '.quality[] | select(.what | test("names")).where')"
echo "without record: ok"

# A static function of a library that is loaded late and replaced by another one at the same place, and in a child.
cat >plug.c <<'END_C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) static int NAME(void)
{
	return pthread_mutex_lock(&lock) + (getppid() < 0); /* INSIDE */
}
void USER(void);
void USER(void)
{
	NAME(); /* PLUGGED */
	pthread_mutex_unlock(&lock);
}
END_C
cat >host.c <<'END_C'
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void call(const char *file, const char *name)
{
	void *library = dlopen(file, RTLD_NOW), (*use)(void);

	*(void **)&use = library ? dlsym(library, name) : NULL;
	if (!use)
		exit(3);
	use();
	dlclose(library);
}
int main(void)
{
	int status;

	call("./one.so", "use_one");
	call("./two.so", "use_two");
	if (fork() == 0) {
		call("./one.so", "use_one");
		exit(0);
	}
	return wait(&status) < 0 || status != 0;
}
END_C
"$CC" -std=gnu17 -g -O1 -shared -fPIC -DNAME=enter -DUSER=use_one -o one.so plug.c &&
	"$CC" -std=gnu17 -g -O1 -shared -fPIC -DNAME=other -DUSER=use_two -o two.so plug.c &&
	"$CC" -std=gnu17 -g -O1 -o host host.c || fail "cannot compile the libraries"
what=libraries
take enter ./host
same "libraries: call sites" "$(printf '%s\n' "$(at other plug.c INSIDE)" "$(at use_one plug.c PLUGGED)" | sort)" "$(sites)"
same "libraries: problems" 0 "$("$gprof_mt" report -i d --format json quality | jq '.quality | length')"
echo "libraries: ok"

# C++: members by class and namespace, overloads, a static function, a constructor; a symbol.
cat >cc.cc <<'END_C'
#include <pthread.h>
#include <unistd.h>
#define APART __attribute__((noinline))
namespace base {
class Mutex {
public:
	APART Mutex() { pthread_mutex_init(&inner, nullptr); getppid(); }
	APART void lock() { pthread_mutex_lock(&inner); getppid(); }
	APART void lock(int n) { pthread_mutex_lock(&inner); usleep((unsigned)n); }
	APART void unlock() { pthread_mutex_unlock(&inner); getppid(); }
	pthread_mutex_t inner;
};
namespace {
APART void take(Mutex &m) { pthread_mutex_lock(&m.inner); getppid(); }
}
}
APART static void hold(base::Mutex *m) { pthread_mutex_lock(&m->inner); getppid(); }
APART void keep(base::Mutex *m) { pthread_mutex_lock(&m->inner); getppid(); }
int main()
{
	base::Mutex *m = new base::Mutex; /* INIT */
	m->lock(); /* PLAIN */
	m->unlock();
	m->lock(0); /* OVERLOAD */
	m->unlock();
	base::take(*m); /* ANONYMOUS */
	m->unlock();
	hold(m); /* STATIC */
	m->unlock();
	keep(m); /* SYMBOL */
	m->unlock();
}
END_C
if command -v g++ >/dev/null; then
	for flags in -O0 -O2; do
		what="g++ $flags"
		g++ -g "$flags" -pthread -o program cc.cc || fail "cannot compile: $flags"
		take "base::Mutex::Mutex,base::Mutex::lock,base::take,hold,_Z4keepPN4base5MutexE" ./program
		same "$what: call sites" "$(for name in PLAIN OVERLOAD ANONYMOUS STATIC SYMBOL; do at main cc.cc $name; done | sort)" \
			"$(sites)"
		same "$what: the mutex" "mutex at $(at main cc.cc INIT)" \
			"$("$gprof_mt" report -i d --format json locks | jq -r '.locks[].group')"
		same "$what: problems" 0 "$("$gprof_mt" report -i d --format json quality | jq '.quality | length')"
	done
	echo "C++: ok"
fi

# Names are checked when they are read.
for value in "" "a b" "f()" "a,,b"; do
	! "$gprof_mt" record --set "names.wrappers=$value" -o e -- ./host 2>err || fail "'$value' is accepted"
	grep -q "invalid value '$value' for names.wrappers: use names of functions without parameters" err ||
		fail "'$value': $(cat err)"
done
for conf in "$GM_TOP"/configs/*.conf; do
	grep -A4 '^\[names\]' "$conf" | grep -qx 'wrappers = none' || fail "$conf lacks names.wrappers"
done
exit 0
