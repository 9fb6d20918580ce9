#!/bin/bash
# SPDX-License-Identifier: MIT
# Every address of a recorded program has the file, line and function, and the inlined frames, that addr2line
# prints; with --no-inline no inlined frames. A program that was rebuilt since has no names.
set -e
. "$GM_TOP/tests/lib.sh"

mkdir src
cat >src/guard.h <<'END_OF_SOURCE'
#include <mutex>
template <class M> struct guard {
	M &mutex;
	explicit guard(M &m) : mutex(m) { mutex.lock(); }
	~guard() { mutex.unlock(); }
};
END_OF_SOURCE
cat >src/program.cc <<'END_OF_SOURCE'
#include <thread>
#include "guard.h"
static std::mutex one, two;
static volatile long sum;
static inline void add(long n)
{
	guard<std::mutex> held(one);
	sum = sum + n;
}
namespace deep {
template <class T> inline __attribute__((always_inline)) void twice(T n)
{
	add(n);
	add(n + 1);
}
struct worker {
	long n;
	__attribute__((noinline)) void operator()() const
	{
		for (long i = 0; i < n; i++)
			twice<long>(i);
		std::lock_guard<std::mutex> held(two);
		sum = sum + 1;
	}
};
}
int main()
{
	std::thread thread(deep::worker{50});
	deep::worker{50}();
	thread.join();
	return 0;
}
END_OF_SOURCE
g++ -O2 -g -pg -pthread src/program.cc -o program

"$gprof_mt" record -q -o data ./program >out 2>err || fail "record: $(cat out err)"

# The load address of the program, and the offset of every address in its synch-events.
read -r bias build_id < <(awk -v p="$PWD/program" '$7 == p { print $5, $6; exit }' data/[0-9]*/maps)
[ -n "$build_id" ] || fail "not in the load map: $(cat data/[0-9]*/maps)"
babeltrace2 data/[0-9]*/user 2>err >events || fail "babeltrace2: $(cat err)"
sed -n 's/.* site: .*address = \(0x\)\?\([0-9A-Fa-f]*\) .*/\1\2/p' events | sort -u | while read -r address; do
	printf '%x\n' $((address - 16#$bias))
done | grep -E '^[0-9a-f]{4,5}$' >addresses

# Base names, without discriminators and suffixes of clones.
# addr2line does not know the parameters of add(), which is inlined and has no linkage name.
plain()
{
	sed -E 's/ \(discriminator [0-9]+\)//g; s/ \[clone [^]]*\]//g; s,\([^():]*/([^/():]*:[0-9]+\)),(\1,g
		s/(^|\|)add\(long\) /\1add /g'
}

while read -r address; do
	"$GM_BUILD/tests/unit/name_address" "$PWD/program" "$build_id" "$bias" \
		"i$(printf %x $((16#$address + 16#$bias)))" | paste -sd'|'
done <addresses | plain >ours
while read -r address; do
	addr2line -Cfie program "$(printf %x $((16#$address - 1)))" | paste -d' ' - - |
		sed -E 's, \(discriminator [0-9]+\),,; s,(.*) (.*/)?([^/]*)$,\1 (\3),' | paste -sd'|'
done <addresses | plain >theirs
[ "$(wc -l <ours)" -ge 5 ] || fail "few addresses: $(cat addresses)"
grep -q '|.*|' ours || fail "nothing inlined: $(cat ours)"
# If the innermost frame has no linkage name, addr2line prints that of the symbol instead.
grep -q '^__gthread_mutex_lock ' ours || fail "innermost: $(cat ours)"
for file in ours theirs; do
	sed -E 's/^[^|]* (\([^|()]*\)\|)/\1/' $file >$file.plain
done
cmp ours.plain theirs.plain || fail "$(diff ours.plain theirs.plain)"

# sites OPTION...: prints the distinct call sites of the program in the history.
sites()
{
	"$gprof_mt" history -i data --format json "$@" >history.json 2>err || fail "history: $(cat err)"
	jq -r '.objects[].ops[].site // empty' history.json | plain | grep -E '\(program\.cc|^program\+' | sort -u
}

# The innermost frame that is not in a header; the function itself.
awk -F'|' '{ for (i = 1; i < NF && $i !~ /\(program\.cc:/; i++); print $i }' theirs |
	grep -F '(program.cc:' | sort -u >expected
sites | cmp - expected || fail "sites: $(sites)"
sed -E 's/.*\|//' theirs | grep -F '(program.cc:' | sort -u >expected
sites --no-inline | cmp - expected || fail "--no-inline: $(sites --no-inline)"
sites --demangle simple >simple
grep -q '^deep::worker::operator() (\|^add (' simple || fail "simple: $(cat simple)"
! grep -E '<|\(long\)' simple || fail "simple: $(cat simple)"
"$gprof_mt" report -i data --demangle no flat >out 2>err || fail "$(cat err)"
grep -q '_ZNK4deep6workerclEv' out || fail "--demangle no: $(cat out)"
"$gprof_mt" report -i data --demangle some flat >out 2>err && fail "--demangle some"
grep -q 'full, simple or no' err || fail "--demangle some: $(cat err)"

# The program was rebuilt.
sed -i 's/return 0/return sum < 0/' src/program.cc
g++ -O1 -g -pg -pthread src/program.cc -o program
sites >anew
[ -s anew ] || fail "after a rebuild: no call sites"
while read -r site; do
	grep -qx "${site#program+0x}" addresses || fail "after a rebuild: a name for $site"
done <anew
"$gprof_mt" report -i data --format json callgraph quality >quality.json 2>err || fail "$(cat err)"
jq -e --arg p "$PWD/program" '[.. | objects | select(.where? == $p) | .what] | any(test("build-id differs"))' \
	quality.json >/dev/null || fail "quality: $(cat quality.json)"
