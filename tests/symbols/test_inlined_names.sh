#!/bin/bash
# SPDX-License-Identifier: MIT
# C++ functions that only their unit can call have no linkage name in DWARF. Inlined, their names are those that the
# symbol table gives where they are not inlined.
. "$GM_TOP/tests/lib.sh"
need jq g++

cat >names.cc <<'END_C'
#include <pthread.h>
#include <string>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define USE pthread_mutex_lock(&lock), pthread_mutex_unlock(&lock)
struct Box { int n; };
template <class T> struct Holder { T t; };
INLINE static void plain() { USE; }
INLINE static void numbers(int, unsigned, long, unsigned long, short, unsigned char, bool, double, long long, wchar_t) { USE; }
INLINE static void pointers(const char *, char *const *, volatile int *, void *, int &, const Box &, Box &&, const int) { USE; }
INLINE static void classes(Box, std::string const &, Holder<Box *> *, std::size_t) { USE; }
namespace base {
enum Kind { ONE };
class Mutex { public: class Inner {}; };
INLINE static void in_space(Mutex *, Kind, Mutex::Inner) { USE; }
namespace {
INLINE void anonymous(Box *) { USE; }
struct Hidden {
	INLINE void member(int) { USE; }
	INLINE void constant() const { USE; }
	INLINE static void of_class(Hidden *) { USE; }
};
}
}
int main()
{
	Box box = {0};
	base::Hidden hidden;
	int n = 0;
	plain();
	numbers(1, 1, 1, 1, 1, 1, true, 1, 1, L'1');
	pointers("", nullptr, &n, &n, n, box, Box(), 1);
	classes(box, "", nullptr, 1);
	base::in_space(nullptr, base::ONE, base::Mutex::Inner());
	base::anonymous(&box);
	hidden.member(1);
	hidden.constant();
	base::Hidden::of_class(nullptr);
}
END_C
# names WHAT FLAG...: the functions in which the program locks, sorted
names()
{
	g++ -g -O1 -w -pthread -o program names.cc "${@:2}" || fail "$1: cannot compile"
	fresh "$gprof_mt" record -q --set kernel.source=none --set sync.mode=all -- ./program || fail "$1: exit status $?"
	"$gprof_mt" report --format json locks | jq -r '.locks[].sites[].site | sub(" \\(names.cc:.*"; "")' | sort -u
}
for dwarf in 5 4; do
	names "with code" "-DINLINE=__attribute__((noinline))" -gdwarf-$dwarf >expected
	names "inlined" "-DINLINE=__attribute__((always_inline)) inline" -gdwarf-$dwarf >found
	[ "$(wc -l <expected)" = 9 ] || fail "expected nine functions, found: $(cat expected)"
	same "DWARF $dwarf" "$(cat expected)" "$(cat found)"
done
exit 0
