#!/bin/bash
# SPDX-License-Identifier: MIT
# Blocks of the heap have the line of the call that allocated them as their name, whichever function of the allocator
# or of C++ that was, and a life of their own: freed and allocated again, in another thread, in the middle of a section,
# resized, in a forked child. The program gets what it gets without the library.
. "$GM_TOP/tests/access/common.sh"
access_link+=(-no-pie)

# traces_of: prints the traces of accesses in d, the parent's first.
traces_of()
{
	printf '%s\n' d/[0-9]*/accesses | sort -t/ -k2n
}

# check NAME WHAT: ./NAME was recorded in d, and printed to out; its parts are those of the processes
check()
{
	local trace n=0 parts
	mapfile -t parts < <(compgen -G 'part.*')
	rm -f "${parts[@]}"
	awk 'BEGIN { part = 0 } /^child/ { part = 1; next } /^parent/ { part = 0; next } { print >"part." part }' out
	for trace in $(traces_of); do
		PYTHONPATH=$GM_TOP/tests/access python3 "$GM_TOP/tests/access/lives.py" "$1" "$trace" "part.$n" >log 2>&1 ||
			fail "$2, $trace: $(tail -n 3 log)"
		n=$((n + 1))
	done
	[ ! -e "part.$n" ] || fail "$2: no trace of the child"
}

declare -A of=([gcc]=g++ [clang]=clang++)
for compiler in $(compilers); do
	for flag in -O0 -O2; do
		instrumented lives "$compiler" $flag -fno-pie -fno-builtin -D_GNU_SOURCE
		record_all d ./lives >out 2>err || fail "$compiler $flag: $(cat err)"
		[ ! -s err ] || fail "$compiler $flag: $(cat err)"
		check lives "$compiler $flag"
		instrumented lives_cxx "${of[$compiler]}" $flag -fno-pie -std=c++17
		record_all d ./lives_cxx >out 2>err || fail "${of[$compiler]} $flag: $(cat err)"
		[ "$(grep -c 'no memory' out)" = 2 ] || fail "${of[$compiler]} $flag: operator new does not fail"
		check lives_cxx "${of[$compiler]} $flag"
	done
done

# The archive, and another allocator behind it.
gcc -o archive lives.o -L"$GM_BUILD" -l:libaccess_trace.a -lsync_trace "-Wl,-rpath,$GM_BUILD" -pthread -no-pie ||
	fail "cannot link the archive"
record_all d ./archive >out 2>err || fail "the archive: $(cat err)"
check archive "the archive"

# Another allocator behind the library; before it, only the mappings have
# names, and nothing else changes.
for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
	LD_PRELOAD=$allocator true 2>err && [ ! -s err ] || continue
	record_all d env LD_PRELOAD="$allocator" ./archive other >out 2>err || fail "the archive, $allocator: $(cat err)"
	check archive "the archive, $allocator"
	record_all d env LD_PRELOAD="$GM_BUILD/libaccess_trace.so:$allocator" ./lives other >out 2>err ||
		fail "$allocator: $(cat err)"
	check lives "$allocator"
	record_all d env LD_PRELOAD="$allocator" ./lives other >out 2>err || fail "$allocator first: $(cat err)"
	babeltrace2 "$(traces_of | head -n 1)" >events || fail "$allocator first: no trace"
	! grep -q ' block:.* size = 100,' events || fail "$allocator first: a block is known"
	grep -q ' segment:' events || fail "$allocator first: no segments"
done

# A program that has functions of these names itself links, with the archive too, and keeps them.
cat >own.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stddef.h>
static _Alignas(64) char memory[1 << 20], *next = memory;
static int n_made, n_freed, counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void *malloc(size_t n) { void *at = next; next += (n + 63) / 64 * 64; n_made++; return at; }
void free(void *at) { if (at != NULL) n_freed++; }
void *calloc(size_t n, size_t n_bytes) { return malloc(n * n_bytes); }
void *realloc(void *at, size_t n) { (void)at; return malloc(n); }
int main(void)
{
	void *volatile at = malloc(10);
	free(at);
	pthread_mutex_lock(&mutex);
	counter++;
	pthread_mutex_unlock(&mutex);
	return !((char *)at >= memory && (char *)at < memory + sizeof(memory) && n_made > 0 && n_freed > 0);
}
END
gcc "${access_cflags[@]}" -fno-builtin -c own.c || fail "cannot compile own.c"
gcc -o own.shared own.o "${access_link[@]}" || fail "cannot link own allocator"
gcc -o own.archive own.o -L"$GM_BUILD" -l:libaccess_trace.a -lsync_trace "-Wl,-rpath,$GM_BUILD" -pthread ||
	fail "cannot link own allocator with the archive"
for program in shared archive; do
	record_all d ./own.$program >out 2>err || fail "own allocator, $program: $? $(cat err)"
	babeltrace2 d/[0-9]*/accesses | grep -q ' segment:' || fail "own allocator, $program: no segments"
done
