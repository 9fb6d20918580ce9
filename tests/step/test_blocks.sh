#!/bin/bash
# SPDX-License-Identifier: MIT
# With access.blocks=on, blocks of the heap that stepped sections access have the line of the call that allocated them
# as their name, and a life of their own, as in compiled mode: the variables of a program are the same in both. Without
# it they have neither, and a note says so.
. "$GM_TOP/tests/access/common.sh"
[ -e "$GM_BUILD/libaccess_step_blocks.so" ] ||
	skip "libaccess_step_blocks.so was not built: libzydis-dev is missing"

# stepped BLOCKS COMMAND...: records into d, and steps through every section.
stepped()
{
	rm -rf d
	LD_BIND_NOW=1 "$gprof_mt" record -q -o d --accesses=sampled --set access.blocks="$1" --set access.budget=100 \
		--set access.steps=1000000 --set sync.mode=all --set kernel.source=none --set sample.stacks=off -- \
		"${@:2}" >out 2>err || fail "$*: $(cat err)"
}

# The events of blocks are those that the program printed, its child's in a trace of its own.
for name in lives lives_cxx; do
	compiler=gcc
	[ $name = lives ] || compiler='g++ -std=c++17'
	# shellcheck disable=SC2086 # a flag
	bare $name $compiler -fno-pie -no-pie -fno-builtin -D_GNU_SOURCE
	stepped on "./$name.bare"
	[ ! -s err ] || fail "$name: $(cat err)"
	python3 - "$name" <<'END' || fail "$name: cannot divide the output"
part = open("part.0", "w")
for line in open("out"):
    if line.split()[0] in ("child", "parent"):
        part = open("part.1" if line.startswith("child") else "part.0", "a")
    else:
        part.write(line)
END
	n=0
	for trace in $(printf '%s\n' d/[0-9]*/accesses | sort -t/ -k2n); do
		PYTHONPATH=$GM_TOP/tests/access python3 "$GM_TOP/tests/access/lives.py" "$name.bare" "$trace" part.$n \
			>log 2>&1 || fail "$name, $trace: $(tail -n 3 log)"
		n=$((n + 1))
	done
	[ ! -e part.$n ] || fail "$name: no trace of the child"
	rm -f part.*
done

# variables DIR: the variables that sections access, except those of libc, with what is known of them.
variables()
{
	"$gprof_mt" report -i "$1" --format json accesses >report.json 2>err || fail "$1: $(cat err)"
	python3 - <<'END' || fail "$1: see above"
import json
rows = json.load(open("report.json"))["access_variables"]
names = {(row["variable"], row["shared_pct"] > 0) for row in rows if not row["variable"].startswith(("(", "["))}
print("\n".join(f"{name} {'shared' if shared else 'private'}" for name, shared in sorted(names)))
END
}

instrumented shared gcc -fno-inline
bare shared gcc -fno-inline
record_all compiled ./shared >out 2>&1 || fail "compiled: $(cat out)"
variables compiled >compiled.names
grep -q '^struct node.next allocated at push (shared.c:[0-9]*) shared' compiled.names || fail "$(cat compiled.names)"
stepped on ./shared.bare
variables d >stepped.names
cmp compiled.names stepped.names || fail "other names: $(diff compiled.names stepped.names)"
"$gprof_mt" report -i d accesses >text 2>err || fail "$(cat err)"
! grep -q 'blocks are not known' text || fail "a wrong note: $(grep 'blocks are not' text)"

stepped off ./shared.bare
variables d >stepped.names
! grep -q allocated stepped.names || fail "blocks without access.blocks: $(cat stepped.names)"
"$gprof_mt" report -i d accesses >text 2>err || fail "$(cat err)"
grep -q 'blocks are not known.*access.blocks=on' text || fail "no note: $(cat text)"

# A program that has its own malloc() keeps it.
cat >own.c <<'END'
#include <pthread.h>
#include <stddef.h>
static _Alignas(64) char memory[1 << 20], *next = memory;
static int n_made, counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void *malloc(size_t n) { void *at = next; next += (n + 63) / 64 * 64; n_made++; return at; }
void free(void *at) { (void)at; }
void *calloc(size_t n, size_t n_bytes) { return malloc(n * n_bytes); }
void *realloc(void *at, size_t n) { (void)at; return malloc(n); }
int main(void)
{
	char *volatile at = malloc(10);
	pthread_mutex_lock(&mutex);
	*at = (char)++counter;
	pthread_mutex_unlock(&mutex);
	return !(at >= memory && at < memory + sizeof(memory) && n_made > 0);
}
END
gcc -O1 -fno-builtin -rdynamic -o own own.c -pthread || fail "cannot compile own.c"
stepped on ./own
babeltrace2 d/[0-9]*/accesses | grep -q ' segment:' || fail "own allocator: no segments"

# So does one with another allocator, whose functions come first.
for allocator in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
	LD_PRELOAD=$allocator true 2>err
	[ ! -s err ] || continue
	LD_PRELOAD=$allocator stepped on ./shared.bare
	babeltrace2 d/[0-9]*/accesses | grep -q ' segment:' || fail "$allocator: no segments"
done
