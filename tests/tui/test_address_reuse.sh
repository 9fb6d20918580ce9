#!/bin/bash
# SPDX-License-Identifier: MIT
# Libraries that were loaded at the same addresses one after the other, in the browser: with a new index, and
# with a saved one.
. "$GM_TOP/tests/tui/common.sh"
source=$GM_TOP/tests/sync/programs/address_reuse.c

for name in one two; do
	cp "$source" $name.c
	"$CC" -std=gnu17 -O1 -g -fPIC -shared -pthread -DNAME=$name -o $name.so $name.c || fail "cannot compile $name.so"
done
"$CC" -std=gnu17 -O1 -g -pthread -o address_reuse "$source" || fail "cannot compile"
"$gprof_mt" record -q --set kernel.source=none -- ./address_reuse end 2 one two >places || fail record
[ "$(sort -u places | wc -l)" = 1 ] || skip "the loader does not reuse an address"
"$GM_BUILD/tests/tui/compare_index" gprof-mt.data || fail "see above"

# Made large by a file that is never read.
truncate -s 10M gprof-mt.data/padding
terminal 120 40
for index in new kept; do
	[ $index = new ] || [ -e gprof-mt.data/index/head ] || fail 'no index is kept'
	run "clear; $gprof_mt browse; echo status=\$?"
	shows DETAILS
	for object in 'two_mutex #2' 'one_mutex #3' 'two_mutex #4'; do
		keys o /
		shows '/'
		types "$object"
		keys Enter
		shows " $object: "
		shows "${object%%_*}_use (${object%%_*}.c:"
		other=$([[ $object == one* ]] && echo two || echo one)
		hides "${other}_use ("
	done
	keys q
	shows status=0
done
