#!/bin/bash
# SPDX-License-Identifier: MIT
# Before each instruction of programs of many kinds, and of the libraries and signal handlers that they run, the
# call path is the one that an account of all calls and returns has: in prologues, epilogues and PLT entries, on
# alternate stacks and those of makecontext(), across siglongjmp(), exceptions and dlclose().
. "$GM_TOP/tests/lib.sh"
stepper=$GM_BUILD/tests/unwind/stepper
[ -e "$stepper" ] || skip "tests/unwind/stepper is not built"

n_all=0
# stepped NAME SOURCE FLAG...: compiles a library of programs/stepped/ and steps it
stepped()
{
	local name=$1 source=$programs/stepped/$2 status=0 compiler=$CC counts equal others
	shift 2
	[[ $source != *.cc ]] || compiler="g++ -std=c++17"
	[[ $1 != clang ]] || { compiler=clang; shift; }
	command -v "${compiler%% *}" >/dev/null || { echo "$name: ${compiler%% *} is not installed"; return; }
	$compiler -g -w -shared -fPIC -Wl,-z,lazy "$@" -o "$name.so" "$source" || fail "cannot compile $name"
	timeout 120 "$stepper" "./$name.so" >"$name.out" 2>"$name.err" || status=$?
	[ $status -ne 77 ] || skip "$(cat "$name.out")"
	[ $status -eq 0 ] || { cat "$name.out"; fail "$name: exit status $status: $(cat "$name.err")"; }
	counts=$(grep '^steps' "$name.out")
	echo "$name: $counts"
	! grep '^short' "$name.out" || fail "$name: paths end early"
	equal=$(sed -E 's/.* equal ([0-9]+),.*/\1/' <<<"$counts")
	others=$(sed -E 's/.* jumps ([0-9]+), replaced ([0-9]+), aligned ends ([0-9]+), no table ([0-9]+),.*/\1+\2+\3+\4/' <<<"$counts")
	[ $((50 * (others))) -le "$equal" ] || fail "$name: expected 2 % of paths at most that differ for a known reason, found $others beside $equal"
	n_all=$((n_all + equal))
}

stepped calls.O0 calls.c -O0
stepped calls.O1 calls.c -O1 -fno-omit-frame-pointer
stepped calls.O2 calls.c -O2 -fomit-frame-pointer
stepped calls.O2.noplt calls.c -O2 -fno-plt -fcf-protection=none
stepped calls.Os calls.c -Os -fomit-frame-pointer -fstack-clash-protection
stepped calls.O3 calls.c -O3 -fcf-protection=full -Wl,-z,ibtplt -fstack-protector-all
stepped calls.clang calls.c clang -O2
stepped contexts.O0 contexts.c -O0
stepped contexts.O2 contexts.c -O2
stepped page_starts.O0 page_starts.c -O0
stepped page_starts.O2 page_starts.c -O2
stepped throws.O0 throws.cc -O0
stepped throws.O2 throws.cc -O2
stepped hand hand.c -O2
for bytes in 1032 4104; do
	"$CC" -shared "-DFRAME_BYTES=$bytes" -o "$bytes.so" "$programs/frame.S" || fail "cannot compile frame.S"
done
mv 1032.so small.so
mv 4104.so large.so
stepped unloads unloads.c -O2
[ "$n_all" -ge 100000 ] || fail "only $n_all instructions"
echo "$n_all instructions"
