#!/bin/bash
# SPDX-License-Identifier: MIT
# Objects in variables are named by member and element, from the variables' types in DWARF. The addresses come
# from the program itself. Where the type is not known, the offset in bytes is shown.
set -e
. "$GM_TOP/tests/lib.sh"
name=$GM_BUILD/tests/unit/name_address

cat >parts.c <<'END'
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
struct queue { pthread_mutex_t lock; int items[3]; pthread_cond_t not_empty, not_full; };
struct shard { long size; struct { struct queue queue; }; union { long kind; char bytes[64]; } any; };
typedef struct shard shard_t;
static struct queue queue, queues[2];
static volatile shard_t shards[2][3];
pthread_mutex_t plain, locks[4];
pthread_spinlock_t spins[4];
sem_t semaphore, semaphores[2];
char storage[100];
#define SHOW(expected, place) printf("%s %lx\n", expected, (unsigned long)&(place))
int main(void)
{
	static struct queue inner;
	SHOW("queue.lock", queue.lock);
	SHOW("queue.not_full", queue.not_full);
	SHOW("queues[1].not_empty", queues[1].not_empty);
	SHOW("queue.items[0]", queue.items);
	SHOW("queue.items[2]", queue.items[2]);
	SHOW("shards[1][2].queue.not_full", shards[1][2].queue.not_full);
	SHOW("shards[0][0].size", shards[0][0].size);
	SHOW("shards[1][0].any.bytes+20", shards[1][0].any.bytes[20]);
	SHOW("plain", plain);
	SHOW("locks[0]", locks[0]);
	SHOW("locks[3]", locks[3]);
	SHOW("spins[2]", spins[2]);
	SHOW("semaphore", semaphore);
	SHOW("semaphores[1]", semaphores[1]);
	SHOW("storage+7", storage[7]);
	SHOW("inner.not_full", inner.not_full);
	return 0;
}
END
cat >parts.cc <<'END'
#include <array>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <pthread.h>
class Mutex { public: virtual ~Mutex() {} pthread_mutex_t _mutex; };
struct base { long size; Mutex guard; };
struct derived : base { std::mutex own; std::condition_variable changed; };
std::mutex plain;
std::array<Mutex, 4> shared;
namespace space { static derived hidden; struct holder { static derived common; }; derived holder::common; }
#define SHOW(expected, place) printf("%s %lx\n", expected, (unsigned long)&(place))
int main()
{
	SHOW("plain", plain);
	SHOW("shared[2]._mutex", shared[2]._mutex);
	SHOW("space::hidden.guard._mutex", space::hidden.guard._mutex);
	SHOW("space::hidden.own", space::hidden.own);
	SHOW("space::holder::common.changed", space::holder::common.changed);
}
END

# check PROGRAM: the names that the program expects are those found in it (clang's symbol is main.inner)
check()
{
	local expected at found n=0
	while read -r expected at; do
		found=$("$name" "$PWD/$1" - 0 "o$at")
		same "$1" "$expected" "${found#main.}"
		n=$((n + 1))
	done < <("./$1")
	[ $n -ge 5 ] || fail "$1: $n names"
}

for compiler in "$CC" clang; do
	command -v "$compiler" >/dev/null || continue
	for flags in -O0 "-O2 -gdwarf-4" -gsplit-dwarf; do
		# shellcheck disable=SC2086 # the words are split on purpose
		"$compiler" -g $flags -no-pie -pthread parts.c -o c || fail "$compiler $flags"
		check c
	done
done
if command -v g++ >/dev/null; then
	g++ -g -no-pie -pthread parts.cc -o cc
	check cc
fi

# Without types.
"$CC" -no-pie -pthread parts.c -o bare
at=$(./bare | awk '$1 == "queue.not_full" { print $2 }')
start=$(nm bare | awk '$3 == "queue" { print $1 }')
same "no DWARF" "queue+$((16#$at - 16#$start))" "$("$name" "$PWD/bare" - 0 "o$at")"

# Found in the symbol cache, too.
"$CC" -g -no-pie -pthread parts.c -Wl,--build-id -o c
id=$(readelf -n c | sed -n 's/.*Build ID: //p')
at=$(./c | awk '$1 == "shards[1][2].queue.not_full" { print $2 }')
export XDG_CACHE_HOME=$PWD/cache
for run in first second; do
	same "cached, $run" "shards[1][2].queue.not_full" "$("$name" "$PWD/c" "$id" 0 "o$at")"
done
[ "$(find cache -type f | wc -l)" = 1 ] || fail "expected one file of cached names, got $(find cache -type f)"
