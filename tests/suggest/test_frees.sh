#!/bin/bash
# SPDX-License-Identifier: MIT
# A line that reads a block of the heap is not suggested to be moved out of the section if another thread ends the life
# of the block: in a section of the lock or outside, by free(), realloc() or munmap(). Nor is the call that frees it.
. "$GM_TOP/tests/access/common.sh"
need jq
[ -e "$GM_BUILD/libaccess_step.so" ] || skip "machine code is not read: libzydis-dev is missing"
# shellcheck disable=SC2034 # for instrumented()
programs=$GM_TOP/tests/suggest/programs

instrumented frees gcc
record_all a ./frees >out 2>&1 || fail "record: $(cat out)"
"$gprof_mt" suggest --runs 2 --format json a >json 2>err || fail "suggest: $(cat err)"

# Lines without samples are in notes.
jq -r '[.suggestions[].action, .notes[].note] | join("\n")' json >told
line=$(grep -nF 'kept: reads' "$programs/frees.c" | cut -d: -f1)
grep -q "line $line of read_kept (frees.c:[0-9]*) need not be in the section" told ||
	fail "freed when the reader has ended: $(cat told)"
for way in freed later moved unmapped; do
	! grep "read_$way .*need not be in the section" told || fail "$way: $(cat told)"
done
! grep "change_freed .*need not be in the section" told || fail "the call of free(): $(cat told)"

# The advice for more samples names what was not set.
grep -q "samples are too few to tell their time: record for longer, with sample.stacks=on\$" told || fail "without samples: $(cat told)"
bare frees gcc
mkdir bare
mv frees.bare bare/frees
for hz in 100 1000; do
	"$gprof_mt" record -q -o "t$hz" --set sync.mode=all --set sample.hz=$hz -- bare/frees >out 2>&1 || fail "record: $(cat out)"
	"$gprof_mt" suggest --runs 2 --format json a "t$hz" >json 2>err || fail "suggest: $(cat err)"
	jq -r '.notes[].note' json | grep -o 'record for longer.*' >"advice$hz"
done
same "advice at 100 Hz" "record for longer, or with --set sample.hz=1000" "$(sort -u advice100)"
same "advice at 1000 Hz" "record for longer" "$(sort -u advice1000)"

# The sections of the reader and of the thread that frees the node exclude each other, by the node too.
"$gprof_mt" report -i a conflicts >conflicts 2>err || fail "conflicts: $(cat err)"
grep -q "freed_lock.*read_freed.*struct node.*allocated at new_node" conflicts || fail "$(cat conflicts)"
