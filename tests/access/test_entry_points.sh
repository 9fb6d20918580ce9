#!/bin/bash
# SPDX-License-Identifier: MIT
# libaccess_trace defines every function that gcc and clang call for -fsanitize=thread, and atomic operations of all
# sizes and copies have the results that they have without.
. "$GM_TOP/tests/access/common.sh"
nm -D --defined-only "$GM_BUILD/libaccess_trace.so" | awk '{ print $3 }' | LC_ALL=C sort -u >exported
nm --defined-only -g "$GM_BUILD/libaccess_trace.a" | awk 'NF == 3 { print $3 }' | LC_ALL=C sort -u >archived
same "the names in the archive" "$(cat exported)" "$(cat archived)"

# lacks WHAT FILE: fails if a name in FILE is not exported
lacks()
{
	local missing
	missing=$(LC_ALL=C sort -u "$2" | comm -23 - exported)
	[ -z "$missing" ] || fail "$1 calls these, which libaccess_trace does not define: $(tr '\n' ' ' <<<"$missing")"
}

# The names in gcc are whole.
for compiler in cc1 cc1plus; do
	compiler=$(gcc -print-prog-name=$compiler)
	[ -x "$compiler" ] || continue
	strings -a "$compiler" | grep -oE '__tsan_[a-z0-9_]+' | LC_ALL=C sort -u >named
	[ "$(wc -l <named)" -ge 80 ] || fail "expected at least 80 names in $compiler, found $(wc -l <named)"
	lacks "$compiler" named
done

# clang composes them of a prefix and a size (and operation), the prefixes are in its library.
if command -v clang >/dev/null; then
	library=$(ldd "$(readlink -f "$(command -v clang)")" | awk '/libLLVM/ { print $3 }')
	strings -a "${library:-$(readlink -f "$(command -v clang)")}" | grep -oE '__tsan_[a-z0-9_]+' | sort -u >prefixes
	[ "$(wc -l <prefixes)" -ge 15 ] || fail "expected at least 15 names in clang, found $(wc -l <prefixes)"
	while read -r name; do
		case $name in
		__tsan_unaligned_*) printf "$name%s\n" 2 4 8 16 ;;
		__tsan_atomic) for size in 8 16 32 64 128; do
			printf "$name${size}_%s\n" load store exchange fetch_{add,sub,and,or,xor,nand} compare_exchange_val
		done ;;
		*_read | *_write)
			[ "$name" = __tsan_vptr_read ] && echo "$name" || printf "$name%s\n" 1 2 4 8 16 ;;
		*) echo "$name" ;;
		esac
	done <prefixes >named
	lacks clang named
fi

declare -A of=([gcc]=g++ [clang]=clang++)
for compiler in $(compilers); do
	for flags in -O0 -O1 "-O2 $(reads "$compiler")" '-O2 -D_FORTIFY_SOURCE=2 -fno-inline'; do
		# shellcheck disable=SC2086 # flags are several
		set -- $flags
		instrumented entry_points "$compiler" "$@" -mcx16 -DWIDE
		nm -u entry_points.o | grep -o '__tsan_.*' >used
		[ "$(wc -l <used)" -ge 60 ] || fail "$compiler $flags calls only $(wc -l <used) functions"
		lacks "$compiler $flags" used
		# Without -fsanitize=thread, gcc's atomics of 128 bits are in libatomic.
		bare entry_points "$compiler" "$@" -mcx16 -DWIDE -Wl,--as-needed "$(gcc -print-file-name=libatomic.so)"
		./entry_points.bare >expected || fail "entry_points.bare of $compiler $flags: $?"
		./entry_points >got || fail "entry_points of $compiler $flags: $?"
		cmp -s expected got || fail "$compiler $flags: $(diff expected got | head -n 20)"
		record_all d ./entry_points >got || fail "recorded entry_points of $compiler $flags: $?"
		cmp -s expected got || fail "$compiler $flags, recorded: $(diff expected got | head -n 20)"

		instrumented entry_points_cxx "${of[$compiler]}" "$@" -std=c++17
		nm -u entry_points_cxx.o | grep -o '__tsan_.*' >used
		lacks "${of[$compiler]} $flags" used
		grep -q __tsan_vptr_update used || fail "${of[$compiler]} $flags calls no __tsan_vptr_update"
		bare entry_points_cxx "${of[$compiler]}" "$@" -std=c++17
		./entry_points_cxx.bare >expected || fail "entry_points_cxx.bare: $?"
		record_all d ./entry_points_cxx >got || fail "entry_points_cxx of $compiler $flags: $?"
		cmp -s expected got || fail "${of[$compiler]} $flags: $(diff expected got | head -n 20)"
	done
done

# The archive does the same as the shared library.
gcc -o archive entry_points.o -L"$GM_BUILD" -l:libaccess_trace.a -lsync_trace "-Wl,-rpath,$GM_BUILD" -pthread ||
	fail "cannot link the archive"
./entry_points.bare >expected
record_all d ./archive >got || fail "with the archive: $?"
cmp -s expected got || fail "with the archive: $(diff expected got | head -n 20)"
babeltrace2 d/[0-9]*/accesses | grep -q segment || fail "nothing was recorded with the archive"
