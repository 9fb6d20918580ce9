#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt replay --engine=skeleton`: its table, captures of a real program in each order, models that it refuses, and
# processes that it leaves.
. "$GM_TOP/tests/lib.sh"
need jq
build all_kinds

# model LINE...: writes the lines behind the first ones of a model
model()
{
	printf '%s\n' "gprof-mt-model 1" "cpus 1" "run 70000000" "quantum 3000000" "wake 50000" "$@" >model
}

# refused TEXT OPTION...: the replay of the model fails with one line
refused()
{
	local text=$1 status
	shift
	"$gprof_mt" replay --engine=skeleton "$@" model >out 2>err
	status=$?
	[ $status -ne 0 ] || fail "accepted: $*"
	same "$*: number of lines" 1 "$(wc -l <err)"
	grep -qF -- "$text" err || fail "$*: expected $text, got $(cat err)"
}

usable=$(nproc)
model 'lock "l"' 'thread 0 "a"' '10000000 create 1' '10000000 lock 0' '20000000 unlock 0' '0 exit' \
	'thread created "b"' '10000000 lock 0' '20000000 unlock 0' '0 exit'
"$gprof_mt" replay --engine=skeleton --runs 2 --cpus "1..$usable" --format json model >json || fail "json"
jq -e --argjson n "$usable" '.replays | length == $n and all(.run_ns >= 55e6 and .used_cpus > 0)' json >/dev/null ||
	fail "$(cat json)"
# On one CPU, all CPU time is a lower bound.
jq -e '.replays[0].run_ns >= 65e6' json >/dev/null || fail "$(cat json)"
"$gprof_mt" replay --engine=skeleton --runs 2 model >out || fail "$(cat out)"
grep -q 'fidelity: recorded 70.0 ms, replayed on as many CPUs (1)' out || fail "$(cat out)"

# The kernel tells how much other programs ran; none of it is certain to be above 0.
sed -nE 's/.*other programs used (.*) of these CPUs meanwhile/\1/p' out | {
	! read -r others || awk -v others="$others" -v n="$usable" 'BEGIN { exit !(others >= 0 && others <= n) }'
} || fail "$(cat out)"

refused "$((usable + 1)) CPUs, but $usable can be used here: use --engine=simulation" --cpus $((usable + 1))
refused "the model has no order of its steps: use --order=free" --order locks
refused "--fair needs --engine=simulation" --fair
refused "invalid --order 'some' (expected free, locks, all)" --order some
refused "invalid --engine 'real' (expected simulation, skeleton)" --engine real
"$gprof_mt" replay --order all model 2>err && fail "a simulation with an order"
grep -qF -- "--order=all needs --engine=skeleton" err || fail "$(cat err)"
sed -i 's/^cpus 1$/cpus 1000/' model
refused "1000 CPUs, but $usable can be used here: use --engine=simulation"
"$gprof_mt" replay --engine=skeleton --runs 2 --cpus 1 model >out || fail "$(cat out)"
grep -q 'fidelity: not known, as the run was recorded on 1000 CPUs' out || fail "$(cat out)"

# A run that never ends.
model 'lock "l"' 'lock "m"' 'thread 0 "a"' '0 lock 0' '0 await 1:0' '0 lock 1' '0 exit' \
	'thread 0 "b"' '0 lock 1' '0 await 0:0' '0 lock 0' '0 exit'
"$gprof_mt" replay --engine=skeleton model >out || fail "$(cat out)"
grep -q "2 threads wait for ever in the replay: thread 0 'a' at step 2 for lock 'm', thread 1 'b' at step 2 for lock 'l'" \
	out || fail "$(cat out)"

# The process of a run ends with gprof-mt.
model 'thread 0 "a"' '0 sleep 600000000000' '0 exit'
"$gprof_mt" replay --engine=skeleton model >out &
replay=$!
until_true 60 pgrep -P $replay >/dev/null || fail "no process of a run"
child=$(pgrep -P $replay)
kill -KILL $replay
wait $replay 2>/dev/null
has_ended()
{
	[ ! -d "/proc/$child" ]
}
until_true 60 has_ended || fail "process $child is left"

# More threads than can be created.
if ! with_sanitizers; then
	{
		printf '%s\n' "gprof-mt-model 1" "cpus 1" "quantum 3000000"
		for _ in $(seq 3000); do
			printf '%s\n' 'thread 1000000000 "t"' '0 exit'
		done
	} >model
	(ulimit -v 160000 && "$gprof_mt" replay --engine=skeleton model >out 2>err) && fail "3000 threads in 160 MB"
	same "too many threads: number of lines" 1 "$(wc -l <err)"
	grep -q 'cannot create thread [0-9]* of 3000 for the replay: .*: use --engine=simulation' err || fail "$(cat err)"
fi

# A real program.
"$gprof_mt" record -q -o d --set sync.mode=all ./all_kinds 100 || fail "record"
for order in free locks all; do
	"$gprof_mt" replay --engine=skeleton --runs 2 --order $order d >out 2>err || fail "$order: $(cat out err)"
	[ ! -s err ] || fail "$order: $(cat err)"
	! grep -q 'for ever' out || fail "$order: $(cat out)"
	grep -q 'fidelity: recorded' out || fail "$order: $(cat out)"
done
