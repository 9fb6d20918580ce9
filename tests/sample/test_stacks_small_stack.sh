#!/bin/bash
# SPDX-License-Identifier: MIT
# A sample with its call path takes little more stack than one without: no more than libgmon-mt/DESIGN.md states. The
# thread has the smallest stack, and the first sample of the process.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"

"$CC" -std=gnu17 -D_GNU_SOURCE -O1 -g -Wl,-z,now -o stack_use "$GM_TOP/tests/sample/programs/stack_use.c" -pthread ||
	fail "cannot compile"

# used HZ: prints the bytes of its stack that the thread used
used()
{
	rm -rf gprof-mt.data
	"$gprof_mt" record -q --set kernel.source=none --set sample.hz="$1" --set sample.stacks=on -- ./stack_use 400 ||
		fail "hz $1: exit status $?"
}

without=$(used 0)
with=$(used 1000)
most=$(sed -n 's/.*handler itself takes \([0-9.]*\) KiB.*/\1/p' "$GM_TOP/libgmon-mt/DESIGN.md")
# The kernel's frame: the registers, in the form of XSAVE, below the red zone.
frame=$(LD_SHOW_AUXV=1 /bin/true | awk '/AT_MINSIGSTKSZ/ { print $2 }')
[ -n "$frame" ] || skip "the kernel does not tell the size of a signal's frame"
echo "without samples $without, with samples $with bytes; the kernel's frame takes $frame"
[ "$with" -gt "$((without + frame / 2))" ] || fail "no sample"
awk -v used=$((with - frame)) -v most="$most" 'BEGIN { exit !(most > 0 && used <= 1024 * most) }' ||
	fail "the handler and its program take $((with - frame)) bytes of stack, expected at most $most KiB"
exit 0
