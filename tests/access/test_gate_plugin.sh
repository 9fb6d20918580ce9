#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that gcc compiled with the plugin access_gate.so run as before, and each section has the accesses that it has
# without the plugin: for sections that begin and end in callees, loops, jumps, exceptions and nested functions, at each
# level of optimization. The code outside of sections has no hook in it, and a plugin of another gcc is refused.
. "$GM_TOP/tests/access/common.sh"
plugin=$GM_BUILD/access_gate.so
[ -e "$plugin" ] || skip "gcc's headers for plugins are not installed"

# check NAME COMPILER [FLAG...]
check()
{
	local name=$1 compiler=$2
	shift 2
	instrumented "$name" "$compiler" "$@" -Wall -Wextra -Werror
	bare "$name" "$compiler" "$@"
	"./$name.bare" >out 2>want || fail "$name without the plugin: $(cat want)"
	record_all d "./$name" >cells 2>err || fail "$name, $*: $(cat err)"
	same "$name, $*: the output" "$(cat want)" "$(cat err)"
	python3 - <<'END' || fail "$name, $compiler $*: see above"
import glob, os, sys
sys.path.insert(0, os.environ["GM_TOP"] + "/tests/access")
from segments import segments_of

start, n, rounds = map(int, open("cells").read().split())
segments = segments_of(*glob.glob("d/[0-9]*/accesses"))
written = [{line.address for line in segment.lines if line.written} for segment in segments]
for i in range(n):
    inside, outside = start + 128 * i, start + 128 * i + 64
    assert sum(inside in lines for lines in written) == rounds, ("in", i, sum(inside in lines for lines in written))
    assert not any(outside in lines for lines in written), ("out", i)
END
}

for flag in -O0 -Og -O1 -O2 -O3 -Os "-O2 -fnon-call-exceptions" "-O2 -fno-inline"; do
	# shellcheck disable=SC2086 # flags are words
	check gate gcc "-fplugin=$plugin" $flag
	# shellcheck disable=SC2086
	check gate_cxx g++ "-fplugin=$plugin" $flag
done

# A function that is called outside of sections, too, tests once, and then has a copy without hooks.
cat >add.c <<'END'
void add(long *to, const long *from)
{
	to[0] += from[0];
	to[1] += from[1];
	to[2] += from[2];
}
END
gcc -O2 "${access_cflags[@]}" "-fplugin=$plugin" -S add.c || fail "cannot compile"
same "tests in a function without calls" 1 "$(grep -c 'test\|cmp' add.s)"
same "calls of func_entry" 0 "$(grep -c '__tsan_func' add.s)"

# clang and other versions of gcc do not load it.
for compiler in gcc-11 gcc-13; do
	command -v $compiler >/dev/null || continue
	! $compiler "-fplugin=$plugin" -c add.c 2>err || fail "$compiler loads it"
done
