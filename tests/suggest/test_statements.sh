#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt suggest` offers whole statements only, as optimizing compilers see their lines: a loop or a condition with
# all that belongs to it, or none of it; none that leaves the section; and none across a statement that stays.
. "$GM_TOP/tests/access/common.sh"
need jq
[ -e "$GM_BUILD/libaccess_step.so" ] || skip "machine code is not read: libzydis-dev is missing"
# shellcheck disable=SC2034 # for instrumented()
programs=$GM_TOP/tests/suggest/programs
source=$programs/statements.c

# line TEXT: its number
line()
{
	grep -nF -- "$1" "$source" | cut -d: -f1
}

# moved NAME: the lines of the function that are said to need no lock, in a suggestion or a note
moved()
{
	sed -nE "s/^(.*move )?(lines? [-0-9, ]+) (before|behind|of $1 ).*/\2/p; t; d" < <(grep -F "$1 (statements.c:" told)
}

# whole NAME: all of its statement is offered, or nothing
whole()
{
	local lines
	lines=$(moved "$1")
	[ -z "$lines" ] || same "$how: lines of $1" "lines $(line "$1: first")-$(line "$1: last")" "$lines"
	[ -z "$lines" ] || n_whole=$((n_whole + 1))
}

for compiler in $(compilers); do
	for level in -O1 -O2; do
		how="$compiler $level" n_whole=0
		instrumented statements "$compiler" "$level"
		record_all a ./statements >out 2>&1 || fail "record: $(cat out)"
		"$gprof_mt" suggest --runs 2 --format json a >json 2>err || fail "suggest: $(cat err)"
		jq -r '[.suggestions[].action, .notes[].note] | join("\n")' json | grep 'need not be in the section\|: move ' >told
		whole loop
		whole spread
		whole tail
		[ "$n_whole" -gt 0 ] || fail "$how: no lines: $(cat json)"
		for name in branches leaves order half; do
			same "$how: lines of $name" "" "$(moved $name)"
		done
	done
done

# Without the source, lines may be parts of statements: said with the lines.
mkdir elsewhere
cp "$source" elsewhere/gone.c
programs=$PWD/elsewhere
instrumented gone gcc
rm elsewhere/gone.c
record_all a ./gone >out 2>&1 || fail "record: $(cat out)"
"$gprof_mt" suggest --runs 2 --format json a >json 2>err || fail "suggest: $(cat err)"
jq -r '[.notes[].note] | join("\n")' json | grep 'of loop (.*gone.c:.*need not be in the section' >told || fail "$(cat json)"
grep -q 'parts of statements, since the source is not known' told || fail "$(cat told)"
