#!/bin/bash
# SPDX-License-Identifier: MIT
# Call paths of 100 functions in exports: folded stacks, speedscope and pprof have all of them, in order.
. "$GM_TOP/tests/lib.sh"
need jq python3

{
	cat <<-'END_C'
	#include <pthread.h>
	#include <sched.h>
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	__attribute__((noinline)) int f100(int n) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); return n; }
	END_C
	for ((i = 99; i >= 1; i--)); do
		printf '__attribute__((noinline)) int f%d(int n) { return f%d(n + 1) + 1; }\n' $i $((i + 1))
	done
	cat <<-'END_C'
	static void *deep(void *unused) { return f1(0) ? unused : unused; }
	int main(void)
	{
		pthread_t thread;
		pthread_mutex_lock(&lock);
		pthread_create(&thread, 0, deep, 0);
		/* glibc: 2 if a thread waits */
		while (__atomic_load_n(&lock.__data.__lock, __ATOMIC_ACQUIRE) != 2)
			sched_yield();
		pthread_mutex_unlock(&lock);
		return pthread_join(thread, 0);
	}
	END_C
} >deep.c
"$CC" -std=gnu17 -O1 -g -pthread -o deep deep.c || fail "cannot compile"
"$gprof_mt" record -q --set kernel.source=none --set sync.mode=all --set sync.paths=0ns -o d -- ./deep || fail "exit status $?"
for format in folded speedscope pprof; do
	what=(--what off-cpu)
	[ $format != pprof ] || what=()
	"$gprof_mt" export -q -i d --format $format "${what[@]}" -o out.$format || fail "$format"
done
cat >check.py <<'END_PYTHON'
import gzip, json
expected = [f"f{i}" for i in range(1, 101)]

def is_deep(stack):
    return [frame for frame in stack if frame[:1] == "f" and frame[1:].isdigit()] == expected

def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at

def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, key
            n, at = varint(data, at)
            value, at = data[at:at + n], at + n
        yield key >> 3, value

def packed(value):
    if isinstance(value, int):
        return [value]
    numbers, at = [], 0
    while at < len(value):
        number, at = varint(value, at)
        numbers.append(number)
    return numbers

def pprof_stacks(data):
    texts, functions, locations, samples = [], {}, {}, []
    for field, value in fields(data):
        if field == 2:
            samples.append([id for f, v in fields(value) if f == 1 for id in packed(v)])
        elif field == 4:
            parts = list(fields(value))
            lines = [dict(fields(v))[1] for f, v in parts if f == 4]
            locations[dict(p for p in parts if p[0] == 1)[1]] = lines
        elif field == 5:
            part = dict(fields(value))
            functions[part[1]] = part[2]
        elif field == 6:
            texts.append(value.decode())
    for ids in samples:
        yield [texts[functions[line]] for id in reversed(ids) for line in reversed(locations[id])]

folded = [line.rsplit(" ", 1)[0].split(";") for line in open("out.folded")]
assert any(map(is_deep, folded)), folded
speedscope = json.load(open("out.speedscope"))
names = [frame["name"] for frame in speedscope["shared"]["frames"]]
stacks = [[names[i] for i in sample] for profile in speedscope["profiles"] for sample in profile.get("samples", [])]
assert any(map(is_deep, stacks)), stacks
stacks = list(pprof_stacks(gzip.decompress(open("out.pprof", "rb").read())))
assert any(map(is_deep, stacks)), stacks
END_PYTHON
python3 check.py || fail "see above"
exit 0
