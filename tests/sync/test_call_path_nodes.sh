#!/bin/bash
# SPDX-License-Identifier: MIT
# Call paths are stored as nodes: as many and as deep as a program has them, and a known path takes few bytes.
. "$GM_TOP/tests/sync/common.sh"

ran() # COMMAND...
{
	traced "$@" >out 2>err
	same "exit status of $*" $? 9
}

printf '[sync]\npath_sample = off\npaths = 0ns\n' >all.conf
export GPROF_MT_CONFIG=$PWD/all.conf

# A thread's paths have no limit except memory: if there is no more, the others are counted as lost.
build many_paths -fno-omit-frame-pointer
for n in 3000 "200 2 limited"; do
	# shellcheck disable=SC2086 # arguments
	ran ./many_paths $n
	events >events
	no_complaint
	expect $((2 * ${n%% *})) ' cond_timedwait '
	wanted=$((2 * ${n%% *} + 1)) # and the unlock at the end: glibc leaves the mutex as if others slept
	n_along=$(grep -c ' call_path ' events)
	same "nodes of $n, defined twice" "$(awk '$3 == "path" { print $1, $5, $6 }' events | sort | uniq -d)" ""
	lost=$("$gprof_mt" report --format json quality |
		jq '[.quality[] | select(.what | test("whose call path was lost")) | .count] | add // 0')
	same "paths of $n, lost" "$lost" $((wanted - n_along))
	same "paths of $n, reported" \
		"$("$gprof_mt" report --format json paths | jq '[.paths[].calls] | add')" "$n_along"
	if [[ $n = *limited ]]; then
		[ "$lost" -gt 0 ] || fail "all $n paths are stored: use more"
		"$gprof_mt" report paths | grep -q "$lost more operations have no call path" ||
			fail "report paths does not mention the lost paths"
	else
		same "paths of $n" "$n_along" "$wanted"
		same "different paths of $n" \
			"$("$gprof_mt" report --format json paths | jq '[.paths[] | select(.calls == 2)] | length')" "${n%% *}"
	fi
done
echo "many: ok"

# Each further event along a known path takes at most 16 bytes more than without paths.
bytes() # CONFIGURATION ROUNDS
{
	GPROF_MT_CONFIG=$PWD/$1.conf ran ./many_paths 100 "$2"
	"$GM_TOP/tests/sync/programs/stream_bytes.py" gprof-mt.data
}
printf '[sync]\npaths = off\n' >off.conf
further=$(($(bytes all 30) - $(bytes all 2))) without=$(($(bytes off 30) - $(bytes off 2)))
[ $without -gt 0 ] || fail "no events without paths"
[ $((further - without)) -le $((16 * 28 * 100)) ] ||
	fail "2800 events with known paths take $((further - without)) bytes more than without"
echo "small: ok"

# Deep paths: 128 frames, or as many as sync.path_depth says; equal frames are folded.
build recursion -fno-omit-frame-pointer -fno-asynchronous-unwind-tables
deep() # DEPTH: the path of the wait, and its number of frames
{
	ran ./recursion "$1"
	"$gprof_mt" report --format json paths |
		jq -r '.paths[] | select(.function == "pthread_cond_timedwait") | "\(.path) (\(.frames | length))"' |
		sed -E 's/ < __libc_start_call_main.*_start / /'
}
same "a recursion" "$(deep 37 | sed 's/ (.*//')" "await < descend x37 < main"
"$gprof_mt" report paths | grep -q 'await < descend x37 < main' || fail "report paths does not fold"
ends() # why paths of the capture end early
{
	"$gprof_mt" report --format json quality | jq -r '.path_ends[]? | "\(.operations): \(.why)"'
}
same "complete paths" "$(ends)" ""
same "a deep recursion" "$(deep 300)" "await < descend x127 (128)"
same "a path cut short" "$(ends)" "1: more frames than sync.path_depth"
printf '[sync]\npath_sample = off\npaths = 0ns\npath_depth = 20\n' >shallow.conf
GPROF_MT_CONFIG=$PWD/shallow.conf
same "few frames" "$(deep 300)" "await < descend x19 (20)"
printf '[sync]\npath_sample = off\npaths = 0ns\npath_depth = 240\n' >shallow.conf
same "the most frames" "$(deep 300)" "await < descend x239 (240)"
GPROF_MT_CONFIG=$PWD/all.conf
echo "deep: ok"
