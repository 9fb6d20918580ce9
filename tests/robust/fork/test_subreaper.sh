#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that adopts orphans, as process 1 of its namespace or as a subreaper, gets no child except
# its own from wait(), even if its configuration asks for kernel events without record.
. "$GM_TOP/tests/lib.sh"

build adopts -pg
export GPROF_MT_CONFIG=$PWD/asked.conf
runs=0
# adopts COMMAND...
adopts()
{
	fresh timeout 60 "$@" >out 2>err || fail "$source: $*: status $?: $(cat out err)"
	[ "$(cat out)" = "1 child, then No child processes" ] || fail "$source: $*: expected 1 child, found: $(cat out err)"
	[ -e gprof-mt.data ] || fail "$source: $*: nothing was recorded: $(cat err)"
	if [[ $source != none && $library == "$libgmon" ]]; then
		grep -q 'adopts orphans' err || fail "$source: $*: expected a warning with 'adopts orphans', found: $(cat err)"
	fi
	runs=$((runs + 1))
}

for source in none switches perf; do
	printf '[kernel]\nsource = %s\n' $source >"$GPROF_MT_CONFIG"
	for library in "$libgmon" "$libsync" "$libgmon $libsync"; do
		adopts ./adopts "$library"
		[ "$(id -u)" -ne 0 ] || adopts unshare --pid --fork env LD_PRELOAD="$library" ./adopts
	done
done
echo "$runs runs: the program had no child except its own"
