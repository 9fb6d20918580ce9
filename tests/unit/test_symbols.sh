#!/bin/bash
# SPDX-License-Identifier: MIT
# Names for addresses agree with nm and addr2line, for C and C++, PIE and not, stripped with a separate debug
# file. An object whose build-id is not that of the recorded one gets no names.
set -e
. "$GM_TOP/tests/lib.sh"
name=$GM_BUILD/tests/unit/name_address

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

# Prints the return addresses of calls, from the disassembly.
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
		# addr2line gets the address of the call: one byte before the return address.
		local theirs
		theirs=$(addr2line -fe "$program" "$(add "$site" -1)" | sed 's,.*/,,; s/ (discr.*//' |
			paste -sd' ' | sed -E 's/(.*) (.*)/\1 (\2)/')
		same "$program site $site" "$theirs" \
			"$("$name" "$program" "$id" "$bias" "s$(add "$site" $((16#$bias)))" | sed 's,(src/,(,')"
		sites=$((sites + 1))
	done
	[ $sites -ge 2 ] || fail "$program: expected at least 2 call sites, got $sites"
	at=$(add "$(address_of "$program" table)" $((16#$bias)))
	same "$program table" "table[0]" "$("$name" "$program" "$id" "$bias" "o$at")"
	same "$program table+8" "table[2]" "$("$name" "$program" "$id" "$bias" "o$(add "$at" 8)")"
	at=$(add "$(nm "$program" | awk '$3 ~ /^calls\./ { print $1 }')" $((16#$bias)))
	same "$program local static" calls "$("$name" "$program" "$id" "$bias" "o$at")"
	same "$program no variable" - "$("$name" "$program" "$id" "$bias" "o$(add 10 $((16#$bias)))")"
}

"$CC" -g -O0 -fPIE -pie src/program.c -o pie
"$CC" -g -O0 -no-pie src/program.c -o fixed
check "$PWD/pie" 555500000000
check "$PWD/fixed" 0

# Code inlined from a header is attributed to its call site in the program: the first line of addr2line that
# is not in a header.
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
# chain OBJECT ADDRESS: prints "function (file:line)", innermost first, as addr2line does.
chain()
{
	addr2line -Cfie "$1" "$2" | sed 's/ (discr.*//' | paste -d' ' - - |
		sed -E 's,(.*) [^ ]*/(.*)$,\1 (src/\2),'
}

sites=0
for site in $(call_sites inlined); do
	theirs=$(chain inlined "$(add "$site" -1)")
	same "inlined, all of $site" "$theirs" "$("$name" "$PWD/inlined" - 0 "i$site")"
	same "inlined, site $site" "$(grep -v '\.h:' <<<"$theirs" | head -n 1)" \
		"$("$name" "$PWD/inlined" - 0 "s$site")"
	for kind in s i; do
		same "--no-inline, $kind$site" "$(tail -n 1 <<<"$theirs")" \
			"$(GM_NO_INLINE=1 "$name" "$PWD/inlined" - 0 "$kind$site")"
	done
	sites=$((sites + 1))
done
same "call sites in main" 3 $sites

# Calls that are inlined into nested functions, with every kind of debug information: the lines of each
# address are those of addr2line.
cat >src/nested.c <<'END'
int twice(int n);
static inline int helper(int n) { return twice(n) + twice(n + 1); }
#ifdef __clang__
int main(int argc, char **argv) { return helper(argc) + (argv != 0); }
#else
int main(int argc, char **argv)
{
	int nested(int n)
	{
		if (n > 3)
			return helper(n) + argc;
		return nested(n + 1) * 2 + (argv != 0);
	}
	int (*volatile called)(int) = nested;
	return called(argc) + helper(argc);
}
#endif
END
# lines_of OBJECT ADDRESS...: prints the lines of each address, innermost first, on one line
lines_of()
{
	local object=$1
	shift
	for at; do
		printf 'i%x\no0\n' $((16#$at + 1))
	done | "$name" "$PWD/$object" - 0 - | sed -E 's,^.* \(src/(.*)\)$,\1,' |
		awk '$0 != "-" { line = line " " $0; next } { print line; line = "" }'
}
their_lines_of()
{
	addr2line -aie "$@" | sed -E 's/ \(discr.*//; s,.*/,,' |
		awk '/^0x/ { if (NR > 1) print line; line = ""; next } { line = line " " $0 } END { print line }'
}
for compiler in "$CC" clang; do
	command -v "$compiler" >/dev/null || continue
	for flags in "-O0" "-O2" "-O2 -gdwarf-4" "-O2 -gsplit-dwarf"; do
		# shellcheck disable=SC2086 # the words are split on purpose
		"$compiler" -g $flags -c -Wno-all src/nested.c -o nested.o &&
			"$compiler" -g src/program.c -c -Dmain=other -o rest.o &&
			"$compiler" nested.o rest.o -Wl,-z,execstack -o nested || fail "$compiler $flags"
		mapfile -t places < <(objdump -d nested |
			awk '/^[0-9a-f]+ <(main|nested\.0|nested)>:/ { on = 1; next } /^$/ { on = 0 }
				on { sub(":", "", $1); print $1 }')
		witness=nested
		# addr2line reads no .dwo files; the build before has the same code.
		[[ $flags != *split* ]] || witness=whole
		their_lines_of $witness "${places[@]}" >theirs
		lines_of nested "${places[@]}" >ours
		# The padding after a function belongs to no function.
		paste -d'|' theirs ours | grep -v '^ ??:\|| nested+0x' >both
		[ "$(wc -l <both)" -ge 10 ] || fail "$compiler $flags: $(cat both)"
		same "$compiler $flags" "$(cut -d'|' -f1 both)" "$(cut -d'|' -f2 both)"
		cp nested whole
		objcopy --remove-section .debug_aranges nested
		same "$compiler $flags, no aranges" "$(cat ours)" "$(lines_of nested "${places[@]}")"
	done
done

# The path is the one given to the compiler, not an absolute one.
at=$(call_sites pie | head -1)
case $("$name" "$PWD/pie" - 0 "s$at") in
*"(src/program.c:"*) ;;
*) fail "path: $("$name" "$PWD/pie" - 0 "s$at")" ;;
esac

# The file now is another program.
result=$("$name" "$PWD/pie" 0123456789 0 "s$at")
same "build-id" "pie+0x$at" "$result"
same "build-id, with a bias" "pie+0x$at" "$("$name" "$PWD/pie" 0123456789 5000 "s$(add "$at" $((16#5000)))")"
same "gone" "gone+0x$at" "$("$name" "$PWD/gone" - 0 "s$at")"
same "no ELF object" "program.c+0x$at" "$("$name" "$PWD/src/program.c" - 0 "s$at")"
head -c 1000 pie >part
same "cut short" "part+0x$at" "$("$name" "$PWD/part" - 0 "s$at")"

# A separate debug file in the same folder.
cp pie stripped
objcopy --only-keep-debug stripped beside.debug
main_at=$(add "$(address_of pie main)" 5)
strip --strip-all stripped
same "stripped" "stripped+0x$main_at" "$("$name" "$PWD/stripped" - 0 "s$main_at")"
# Functions without symbols have one name each, if unwind tables give their bounds, else one together.
for function in main twice helper; do
	at=$(address_of pie $function)
	for offset in 1 5 9; do
		same "stripped, $function+$offset" "stripped+0x$(add "$at" 0)" \
			"$("$name" "$PWD/stripped" - 0 "f$(add "$at" $offset)")"
		same "stripped, frames of $function+$offset" "stripped+0x$(add "$at" $offset)" \
			"$("$name" "$PWD/stripped" - 0 "i$(add "$at" $offset)")"
	done
done
objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr stripped untold
same "no unwind tables" "untold, no symbols" "$("$name" "$PWD/untold" - 0 "f$main_at")"
same "no file" "gone, no symbols" "$("$name" "$PWD/gone" - 0 "f$main_at")"
# Without -pie; with exported symbols.
cp fixed fixed.bare && strip --strip-all fixed.bare
same "stripped, not PIE" "fixed.bare+0x$(add "$(address_of fixed twice)" 0)" \
	"$("$name" "$PWD/fixed.bare" - 0 "f$(add "$(address_of fixed twice)" 9)")"
"$CC" -g -O0 -shared -fPIC src/program.c -o exports
at=$(add "$(address_of exports helper)" 0)
twice_at=$(add "$(address_of exports twice)" 5)
strip --strip-all exports
same "stripped, exported" twice "$("$name" "$PWD/exports" - 0 "f$twice_at")"
same "stripped, not exported" "exports+0x$at" "$("$name" "$PWD/exports" - 0 "f$(add "$at" 5)")"
objcopy --add-gnu-debuglink=beside.debug stripped
same "debug file" main "$("$name" "$PWD/stripped" - 0 "f$main_at")"
# The symbol cache stores the name of the debug file.
same "debug file, found before" main "$("$name" "$PWD/stripped" "$(build_id pie)" 0 "f$main_at")"

# Compressed debug information.
objcopy --compress-debug-sections=zlib pie compressed
site=$(call_sites pie | head -1)
same "compressed" "$("$name" "$PWD/pie" - 0 "s$site")" "$("$name" "$PWD/compressed" - 0 "s$site")"

# Found by build-id in the system's folder, here in a mount namespace of our own.
id=$(build_id pie)
objcopy --only-keep-debug pie apart.debug
cp pie bare && strip --strip-all bare
same "bare" "bare+0x$site" "$("$name" "$PWD/bare" - 0 "s$site")"
if mkdir -p /usr/lib/debug 2>/dev/null && unshare --mount true 2>/dev/null; then
	unshare --mount bash -c '
		mount -t tmpfs none /usr/lib/debug && mkdir -p "/usr/lib/debug/.build-id/${3:0:2}" &&
			cp apart.debug "/usr/lib/debug/.build-id/${3:0:2}/${3:2}.debug" || exit 99
		"$1" "$PWD/bare" - 0 "s$2"' - "$name" "$site" "$id" >result || fail "by build-id: exit status"
	same "by build-id" "$("$name" "$PWD/pie" - 0 "s$site")" "$(cat result)"
fi

# From a debuginfod server, only if the user has chosen one.
mkdir -p "server/buildid/$id" && cp apart.debug "server/buildid/$id/debuginfo"
export DEBUGINFOD_CACHE_PATH=$PWD/fetched
if ldconfig -p 2>/dev/null | grep -q 'libdebuginfod\.so\.1'; then
	same "debuginfod" "$("$name" "$PWD/pie" - 0 "s$site")" \
		"$(DEBUGINFOD_URLS=file://$PWD/server/ "$name" "$PWD/bare" - 0 "s$site")"
	same "no debuginfod" "bare+0x$site" "$(env -u DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH="$PWD/none" "$name" "$PWD/bare" - 0 "s$site")"
	[ ! -e none ] || fail "asked without DEBUGINFOD_URLS"
fi

# C++, if a compiler is installed.
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
	same "C++, simple" "space::box::take" "$(GM_DEMANGLE=simple "$name" "$PWD/space" - 0 "f$at")"
	same "C++, not demangled" "$(nm space | awk '/take/ { print $3 }')" \
		"$(GM_DEMANGLE=no "$name" "$PWD/space" - 0 "f$at")"
fi
