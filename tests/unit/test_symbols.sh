#!/bin/bash
# SPDX-License-Identifier: MIT
# Names for addresses agree with nm and addr2line, for C and C++, PIE and not, stripped with a
# separate debug file; and an object that is no longer the one that ran gets none.
set -eu
name=$GM_BUILD/tests/unit/name_address

fail()
{
	echo "$*"
	exit 1
}

# same WHAT EXPECTED ACTUAL
same()
{
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

mkdir -p src && cat >src/program.c <<'END'
int table[10];
static int helper(int n) { return n + 1; }
int twice(int n)
{
	return helper(n) *
	       2;
}
int main(void)
{
	static int calls;
	calls = twice(3);
	return calls + table[0];
}
END

address_of() { nm "$1" | awk -v n="$2" '$3 == n { print $1 }'; }
add() { printf '%x\n' $((16#$1 + $2)); }
build_id() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }

# Return addresses of calls, from the disassembly.
call_sites() { objdump -d "$1" | grep -A1 -E 'call .*<(twice|helper)>' | sed -nE '2~3s/^ *([0-9a-f]+):.*/\1/p'; }

check()
{
	local program=$1 bias=$2 id site at
	id=$(build_id "$program")
	for function in main twice helper; do
		at=$(add "$(address_of "$program" $function)" $((16#$bias + 5)))
		same "$program $function" $function "$("$name" "$program" "$id" "$bias" "f$at")"
	done
	local sites=0
	for site in $(call_sites "$program"); do
		# addr2line is asked for the call, one byte before the return address.
		local theirs
		theirs=$(addr2line -fe "$program" "$(add "$site" -1)" | sed 's,.*/,,; s/ (discr.*//' |
			paste -sd' ' | sed -E 's/(.*) (.*)/\1 (\2)/')
		same "$program site $site" "$theirs" \
			"$("$name" "$program" "$id" "$bias" "s$(add "$site" $((16#$bias)))" | sed 's,(src/,(,')"
		sites=$((sites + 1))
	done
	[ $sites -ge 2 ] || fail "$program: $sites call sites found"
	at=$(add "$(address_of "$program" table)" $((16#$bias)))
	same "$program table" table "$("$name" "$program" "$id" "$bias" "o$at")"
	same "$program table+8" table+8 "$("$name" "$program" "$id" "$bias" "o$(add "$at" 8)")"
	at=$(add "$(nm "$program" | awk '$3 ~ /^calls\./ { print $1 }')" $((16#$bias)))
	same "$program local static" calls "$("$name" "$program" "$id" "$bias" "o$at")"
	same "$program no variable" - "$("$name" "$program" "$id" "$bias" "o$(add 10 $((16#$bias)))")"
}

"$CC" -g -O0 -fPIE -pie src/program.c -o pie
"$CC" -g -O0 -no-pie src/program.c -o fixed
check "$PWD/pie" 555500000000
check "$PWD/fixed" 0

# What was inlined from headers is where the program called it: addr2line's first line in no header.
cat >src/outer.h <<'END'
int twice(int n);
static inline __attribute__((always_inline)) int inner(int n) { return twice(n); }
static inline __attribute__((always_inline)) int outer(int n) { return inner(n) + 1; }
END
cat >src/inlined.c <<'END'
#include "outer.h"
int twice(int n) { return n * 2; }
static inline __attribute__((always_inline)) int
ours(int n)
{
	return twice(n);
}
int main(void)
{
	int n = outer(1);
	return ours(n) +
	       outer(n);
}
END
"$CC" -g -O0 -fPIE -pie src/inlined.c -o inlined
sites=0
for site in $(call_sites inlined); do
	theirs=$(addr2line -ie inlined "$(add "$site" -1)" | sed 's,.*/,,; s/ (discr.*//' |
		grep -v '\.h:' | head -n 1)
	same "inlined, site $site" "main (src/$theirs)" "$("$name" "$PWD/inlined" - 0 "s$site")"
	sites=$((sites + 1))
done
same "call sites in main" 3 $sites

# The path is as the compiler was given it, not absolute.
at=$(call_sites pie | head -1)
case $("$name" "$PWD/pie" - 0 "s$at") in
*"(src/program.c:"*) ;;
*) fail "path: $("$name" "$PWD/pie" - 0 "s$at")" ;;
esac

# Another program in its place.
result=$("$name" "$PWD/pie" 0123456789 0 "s$at")
same "build-id" "0x$at (pie: build-id differs)" "$result"
same "gone" "0x$at (gone: no such file any more)" "$("$name" "$PWD/gone" - 0 "s$at")"
same "no ELF object" 1 "$("$name" "$PWD/src/program.c" - 0 "s$at" | grep -c "^0x$at (program.c: ")"
head -c 1000 pie >part
same "cut short" 1 "$("$name" "$PWD/part" - 0 "s$at" | grep -c "^0x$at (part")"

# A separate debug file, beside it.
cp pie stripped
objcopy --only-keep-debug stripped beside.debug
main_at=$(add "$(address_of pie main)" 5)
strip --strip-all stripped
same "stripped" 1 "$("$name" "$PWD/stripped" - 0 "f$main_at" | grep -c "^0x$main_at (stripped+0x")"
objcopy --add-gnu-debuglink=beside.debug stripped
same "debug file" main "$("$name" "$PWD/stripped" - 0 "f$main_at")"

# C++, if there is a compiler for it.
if command -v g++ >/dev/null; then
	cat >space.cc <<-'END'
	namespace space { template <class T> struct box { T take(int n) const; }; }
	template <class T> T space::box<T>::take(int n) const { return T(n); }
	template struct space::box<long>;
	int main() { return (int)space::box<long>().take(0); }
	END
	g++ -g space.cc -o space
	at=$(add "$(nm space | awk '/take/ { print $1 }')" 5)
	same "C++" "space::box<long>::take(int) const" "$("$name" "$PWD/space" - 0 "f$at")"
fi
