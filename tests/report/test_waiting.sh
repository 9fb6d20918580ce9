#!/bin/bash
# SPDX-License-Identifier: MIT
# `report waiting` of a program in a deadlock names the cycle, while it hangs and after it was killed.
# A program that ended well has no thread that waits.
. "$GM_TOP/tests/lib.sh"
need jq

"$CC" -O1 -g -pthread -o deadlocked "$programs/deadlocked.c" || fail "cannot compile"

# all_wait OPTION...: four threads wait
all_wait()
{
	"$gprof_mt" report --format json waiting >json 2>err &&
		jq -e '[.waiting[] | [.type, .name]] | sort == [["mutex", "left"], ["mutex", "left"], ["mutex", "right"],
			["thread", (.[] | select(.[0] == "thread")[1])]]' json >/dev/null
}

# check WHEN MODE: only with sync.mode=all is it known where the locks were taken
check()
{
	jq -e --argjson all "$([ "$2" = all ] && echo true || echo false)" '.waiting | INDEX(.tid) as $by_tid
		| (map(select(.name == "right"))[0]) as $one
		| $by_tid[$one.holder_tid | tostring] as $two
		| $two.name == "left" and $two.holder_tid == $one.tid and $one.holder_waits == "left"
		and ([.[] | select(.name == "left").holder_tid] | unique) == [$one.tid]
		and ([.[] | select(.type == "mutex").holder_site | ($all | not) and . == null or test("^take .deadlocked.c:")] | all)
		and ([.[] | select(.type == "thread").function] == ["pthread_join"])' json >/dev/null ||
		fail "$1: $(cat json)"
	"$gprof_mt" report waiting >text 2>err || fail "$1: $(cat err)"
	[ "$(grep -c 'deadlock: .* waits for \(left\|right\), held by .*, which waits for \(left\|right\), held by ' text)" = 1 ] ||
		fail "$1: $(cat text)"
}

for mode in all contended; do
	rm -rf gprof-mt.data out
	"$gprof_mt" record -q --set kernel.source=none --set sync.mode=$mode -- ./deadlocked >out 2>record.err &
	recorder=$!
	until_true 60 all_wait || fail "$mode: $(cat out err json)"
	grep -q 'still running' err || fail "$mode: $(cat err)"
	check "$mode, while it hangs" $mode
	pkill -KILL -P $recorder -x deadlocked || fail "the program is gone"
	wait $recorder
	all_wait || fail "$mode, killed: $(cat err json)"
	check "$mode, killed" $mode
done

"$gprof_mt" record -q -o good -- "$GM_BUILD/examples/philosophers" 3 10 >/dev/null 2>err || fail "$(cat err)"
"$gprof_mt" report -i good --format json waiting >json || fail "no report"
same "threads that wait in a program that ended" 0 "$(jq '.waiting | length' json)"
