#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt replay` of models: cases computed by hand, random models against a slow implementation, the file of a model,
# and files that are none.
. "$GM_TOP/tests/lib.sh"
need jq python3

# model LINE...: writes the lines behind the first ones of a model, without latencies
model()
{
	printf '%s\n' "gprof-mt-model 1" "cpus 2" "run 1000" "quantum 1000000" "wake 0" "$@" >model
}

# run_ns OPTION...: the simulated run times
run_ns()
{
	"$gprof_mt" replay --format json "$@" model >json 2>err || fail "replay $*: $(cat err)"
	jq -r '[.replays[].run_ns] | join(" ")' json
}

# Two threads: 100 ns outside of the lock, 300 inside. One waits for 300 - 0 ns: 100 + 300 + 300.
model 'lock "lock"' 'thread 0 "main"' '0 create 1' '100 lock 0' '300 unlock 0' '0 exit' \
	'thread created "other"' '100 lock 0' '300 unlock 0' '0 exit'
same "a lock" "800 700 700" "$(run_ns --cpus 1,2,4)"
same "a lock, in order of arrival" "800 700" "$(run_ns --cpus 1,2 --fair)"
same "without the lock" "800 400 400" "$("$gprof_mt" replay --what-if "drop lock" --cpus 1,2,4 --format json model |
	jq -r '[.replays[].changed_ns] | join(" ")')"
"$gprof_mt" replay model | grep -q 'fidelity: recorded 1.00 us, simulated on as many CPUs (2) 700 ns: -30.0 %' ||
	fail "fidelity: $("$gprof_mt" replay model)"

# Readers share: 100 + 50, then the writer's 30. A spin lock's waiter uses its CPU: 10 + 40 + 40, of 90 + 90 ns.
model 'lock "rw"' 'thread 0 "a"' '100 rdlock 0' '50 unlock 0' '0 exit' 'thread 0 "b"' '100 rdlock 0' '50 unlock 0' \
	'0 exit' 'thread 110 "c"' '0 lock 0' '30 unlock 0' '0 exit'
same "readers" "180" "$(run_ns --cpus 3)"
model 'lock "spin"' 'thread 0 "a"' '10 spin 0' '40 unlock 0' '0 exit' 'thread 0 "b"' '10 spin 0' '40 unlock 0' '0 exit'
same "a spin lock" "90" "$(run_ns --cpus 2)"
same "CPUs that it uses" 1.56 "$(jq '.replays[0].used_cpus * 100 | round / 100' json)"

# A signal at 50 ends the wait that begins at 20; one that came before is not waited for. A sleep needs no CPU.
model 'thread 0 "a"' '20 await 1:0' '5 exit' 'thread 0 "b"' '50 signal' '0 exit'
same "a wait for a step" "55" "$(run_ns --cpus 2)"
model 'thread 0 "a"' '70 await 1:0' '5 exit' 'thread 0 "b"' '50 signal' '0 exit'
same "a wait that is over" "75" "$(run_ns --cpus 2)"
model 'thread 0 "a"' '10 sleep 200' '10 exit' 'thread 0 "b"' '100 exit'
same "a sleep" "220" "$(run_ns --cpus 1)"

# The second notification ends the wait, whichever thread it is from: 10, 30.
model 'cond "c"' 'thread 0 "a"' '0 notified 0:2' '5 exit' 'thread 0 "b"' '10 notify 0' '0 exit' 'thread 0 "c"' \
	'30 notify 0' '0 exit'
same "a wait for a condition" "35" "$(run_ns --cpus 3)"
model 'cond "c"' 'thread 0 "a"' '50 notified 0:1' '5 exit' 'thread 0 "b"' '10 notify 0' '0 exit'
same "a wait for a condition that is over" "55" "$(run_ns --cpus 2)"

# A semaphore of 1: three threads work for 40 each, one at a time. A barrier: 10, 20, 30, and then 5.
model 'sem 1 "s"' 'thread 0 "a"' '0 wait 0' '40 post 0' '0 exit' 'thread 0 "b"' '0 wait 0' '40 post 0' '0 exit' \
	'thread 0 "c"' '0 wait 0' '40 post 0' '0 exit'
same "a semaphore" "120" "$(run_ns --cpus 3)"
model 'barrier 3 "b"' 'thread 0 "t"' '10 barrier 0' '5 exit' 'thread 0 "u"' '20 barrier 0' '5 exit' 'thread 0 "v"' \
	'30 barrier 0' '5 exit'
same "a barrier" "35" "$(run_ns --cpus 3)"

# Contention costs CPU time: the waiter blocks from 10 to 20, is woken 5 after the release at 100, takes 20 to try then,
# holds the lock from 125 to 165, and ends 27 later; the other thread's release takes 30. Used: 180 + 107.
costs=('costs 10 20 30 5' 'lock "l"' 'thread 0 "a"' '0 lock 0')
model "${costs[@]}" '100 unlock 0' '50 exit' 'thread 0 "b"' '10 lock 0' '40 unlock 0' '27 exit'
same "contention" 192 "$(run_ns --cpus 2)"
same "CPUs that contention uses" 287 "$(jq '.replays[0] | .used_cpus * .run_ns | round' json)"
# A release while the waiter blocks: it goes on at 20, holds the lock until 60, and ends at 87.
model "${costs[@]}" '15 unlock 0' '5 exit' 'thread 0 "b"' '10 lock 0' '40 unlock 0' '27 exit'
same "a release while the waiter blocks" 87 "$(run_ns --cpus 2)"
same "without the lock, no contention" 77 "$("$gprof_mt" replay --what-if "drop l" --format json model |
	jq -r '.replays[].changed_ns')"

# Threads of other programs: one beside one thread on one CPU gets half of it.
printf '%s\n' "gprof-mt-model 1" "cpus 1" "run 2000" "quantum 10" "wake 0" "others 1000" 'thread 0 "a"' '1000 exit' >model
"$gprof_mt" replay model >out || fail "replay: $(cat out)"
grep -qE 'simulated on as many CPUs \(1\) (1.99|2.00) us' out || fail "beside others: $(cat out)"
same "without others" 1000 "$(run_ns)"

# In the recorded run, other programs kept a thread from a CPU for 50 ns, and another one, which waits until 100, for 40
# ns more. One that is late, but does not wait in the replay, is late behind its next wait: 150 + 20.
model 'others 9' 'thread 0 "a"' '100 exit' 'kept 50'
same "without delays" 100 "$(run_ns)"
beside()
{
	"$gprof_mt" replay model | grep -qF " simulated on as many CPUs (2) $2: " || fail "$1: $("$gprof_mt" replay model)"
}
beside "a thread without a CPU" "150 ns"
model 'others 9' 'lock "l"' 'thread 0 "a"' '0 lock 0' '100 unlock 0' '0 exit' 'thread 0 "b"' '10 lock 0' 'late 40' \
	'10 unlock 0' '0 exit'
same "a wait without delays" 110 "$(run_ns)"
beside "a late wake-up" "150 ns"
model 'others 9' 'lock "l"' 'thread 0 "a"' '50 lock 0' '100 unlock 0' '0 exit' 'thread 0 "b"' '10 lock 0' 'late 20' \
	'10 unlock 0' '60 lock 0' '0 unlock 0' '0 exit'
same "two acquisitions without delays" 150 "$(run_ns)"
beside "a late wake-up of a wait that is over" "170 ns"

# Recording takes 10 ns of each operation that is as long: 90 + 0 + 20 + 5 + 50 without it, and 185 with it.
model 'recording 10' 'run 185' 'lock "l"' 'thread 0 "a"' '100 lock 0' '10 unlock 0' '20 sleep 5' '50 exit'
same "without recording" "165" "$(run_ns)"
"$gprof_mt" replay model >out
tr -s '\n ' ' ' <out | grep -qF 'simulated on as many CPUs (2) 185 ns: +0.0 %' || fail "with recording: $(cat out)"
tr -s '\n ' ' ' <out | grep -qF 'without the cost of recording, 10 ns of each of 2 operations (CPU time: 20 ns)' ||
	fail "with recording: $(cat out)"
same "another cost of recording" "175" "$(run_ns --cost 5ns)"
same "with recording" "185" "$(run_ns --cost 0)"
# The thread b blocks from 6 to 11, is woken at 20, and uses 18 in all; the release takes 30 as before.
model 'recording 10' 'costs 15 0 30 0' 'lock "l"' 'thread 0 "a"' '10 lock 0' '30 unlock 0' '50 exit' \
	'thread 0 "b"' '16 lock 0' '0 unlock 0' '7 exit'
same "blocking without recording" "100 118" "$(run_ns) $(jq '.replays[0] | .used_cpus * .run_ns | round' json)"

# A wake-up takes a time between two quantiles.
model 'wake 10 10 30' 'thread 0 "a"' '0 await 1:0' '0 exit' 'thread 0 "b"' '5 signal' '0 exit'
"$gprof_mt" replay --runs 1000 --format json model >json
jq -e '.replays[0].run_ns | . >= 19 and . <= 21' json >/dev/null || fail "wake-ups: $(cat json)"
model 'wake 10 10 10' 'thread 0 "a"' '0 await 1:0' '0 exit' 'thread 0 "b"' '5 signal' '0 exit'
same "equal wake-ups" "15 0" "$(run_ns) $(jq '.replays[0].sigma_pct' json)"

# A try does not wait, and its release is none of the other's: 40, and 10 + 5 of the third, from 20.
model 'lock "l"' 'thread 0 "a"' '0 lock 0' '40 unlock 0' '0 exit' 'thread 10 "b"' '0 trylock 0' '5 unlock 0' '0 exit' \
	'thread 20 "c"' '0 lock 0' '15 unlock 0' '0 exit'
same "a try" "55" "$(run_ns --cpus 3)"
model 'lock "l"' 'thread 0 "a"' '0 rdlock 0' '40 unlock 0' '0 exit' 'thread 10 "b"' '0 trylock 0' '5 unlock 0' '0 exit' \
	'thread 20 "c"' '0 lock 0' '15 unlock 0' '0 exit'
same "a try for a lock with a reader" "55" "$(run_ns --cpus 3)"
model 'lock "l"' 'lock "m"' 'thread 0 "a"' '0 lock 0' '10 lock 1' '1 unlock 1' '1 unlock 0' '0 exit' \
	'thread 0 "b"' '0 lock 1' '10 trylock 0' '5 unlock 0' '1 unlock 1' '0 exit'
same "a try against the order" "18" "$(run_ns --cpus 2)"
"$gprof_mt" replay --write copy model >out && grep -qx '10 trylock 0' copy || fail "--write: $(cat copy out)"

# A run that never ends is reported, also beside other programs, and if threads spin.
model 'others 1500' 'lock "l"' 'thread 0 "a"' '0 spin 0' '10 await 1:1' '0 exit' 'thread 0 "b"' '5 spin 0' '0 signal' '0 exit'
timeout 60 "$gprof_mt" replay model >out || fail "threads that spin: $?"
grep -q 'note: 2 threads wait for ever' out || fail "$(cat out)"
# ... also after a thread used CPU time to block.
model 'costs 3 2 5 1' 'lock "l"' 'lock "s"' 'thread 0 "a"' '0 lock 0' '5 spin 1' '20 unlock 0' '0 exit' \
	'thread 0 "b"' '5 lock 0' '1 unlock 0' '5 spin 1' '0 exit'
timeout 60 "$gprof_mt" replay model >out || fail "threads that spin after a block: $?"
grep -q 'note: 1 thread waits for ever' out || fail "$(cat out)"
model 'others 1500' 'sem 0 "s"' 'thread 0 "a"' '10 wait 0' '0 exit'
timeout 60 "$gprof_mt" replay model >out || fail "beside others: $?"
grep -q 'note: 1 thread waits for ever' out || fail "$(cat out)"
model 'sem 0 "s"' 'thread 0 "a"' '10 wait 0' '0 exit'
"$gprof_mt" replay model | grep -q 'note: 1 thread waits for ever' || fail "$("$gprof_mt" replay model)"
same "figures of a run that never ends" "null null" "$("$gprof_mt" replay --format json model |
	jq -r '.replays[0] | "\(.run_ns) \(.speedup)"')"

python3 "$GM_TOP/tests/replay/simulated.py" "$gprof_mt" 1 100 || fail "random models: see above"

# A model that is written is the same again.
"$gprof_mt" replay --write copy model >out && "$gprof_mt" replay --write copy2 copy >out2 || fail "--write: $(cat out out2)"
cmp copy copy2 || fail "a copy of a copy differs"

model 'lock "l"' 'site "f"' 'thread 0 "a"' '1 lock 0 1 @7' '2 unlock 0 @9' '0 exit'
"$gprof_mt" replay --write copy model >out || fail "--write: $(cat out)"
same "ranks and sites" "1 lock 0 1 @7/2 unlock 0 @9/0 exit" "$(tail -3 copy | paste -sd/)"

# refused TEXT LINE...: such a model is refused in one line
refused()
{
	local text=$1
	shift
	model "$@"
	! "$gprof_mt" replay model >out 2>err || fail "accepted: $*"
	same "$*: number of lines" 1 "$(wc -l <err)"
	grep -qF "$text" err || fail "$*: expected $text, got $(cat err)"
}

refused 'line 6: not understood' 'thread zero "a"'
refused 'line 7: not understood' 'thread 0 "a"' '10 dance'
refused 'line 7: not understood' 'thread 0 "a"' '-1 exit'
refused 'line 7: not understood' 'thread 0 "a"' '99999999999999999999 exit'
refused 'line 7: not understood' 'thread 0 "a"' '1 exit 0 0'
refused 'line 7: not understood' 'thread 0 "a"' '1 tryexit'
refused 'line 7: not understood' 'thread 0 "a"' '1 exit @'
refused 'line 7: not understood' 'thread 0 "a"' '1 exit @4294967296'
refused 'line 7: not understood' 'thread 0 "a"' '1 exit @4 0'
refused 'line 7: not understood' 'thread 0 "a"' '1 exit 16777216'
refused 'thread 0, step 0: no such lock' 'thread 0 "a"' '1 lock 0' '0 exit'
refused 'thread 0, step 0: no such lock' 'sem 1 "s"' 'thread 0 "a"' '1 lock 0' '0 exit'
refused 'thread 0, step 0: no such condition' 'thread 0 "a"' '1 notify 0' '0 exit'
refused 'thread 0, step 0: no such condition' 'lock "l"' 'thread 0 "a"' '1 notified 0:1' '0 exit'
refused 'line 7: not understood' 'thread 0 "a"' '1 notified 0'
refused 'thread 0, step 0: no such step to await' 'thread 0 "a"' '1 await 0:9' '0 exit'
refused 'thread 0, step 0: no such thread to create' 'thread 0 "a"' '1 create 7' '0 exit'
refused 'thread 0, step 0: a thread that is created has a start, too' 'thread 0 "a"' '1 create 0' '0 exit'
refused 'thread 0, step 0: the last step is no exit' 'thread 0 "a"' '1 signal'
refused 'thread 0, step 0: steps follow the exit' 'thread 0 "a"' '1 exit' '1 exit'
refused 'thread 0, step 0: no such call site' 'thread 0 "a"' '1 exit 4'
refused 'thread 0: no steps' 'thread 0 "a"'
refused 'a barrier of 0 threads' 'barrier 0 "b"' 'thread 0 "a"' '1 exit'
refused 'the model has no threads' '# none'
refused 'its times add up to more than 13 days' 'thread 0 "a"' '999999999999999 signal' '999999999999999 exit'
refused 'share of f: no such call site' 'share 1 2 1 "f"' 'thread 0 "a"' '9 exit'
refused 'share of f: more than all' 'share 3 2 outside "f"' 'thread 0 "a"' '9 exit'
refused 'line 6: not understood' 'share 3 2 "f"' 'thread 0 "a"' '9 exit'
refused 'line 8: not understood' 'lock "l"' 'thread 0 "a"' 'access 1 read' '9 exit'
refused 'line 9: not understood' 'lock "l"' 'thread 0 "a"' '9 lock 0' 'access 1 both' '9 exit'
refused 'line 10: not understood' 'lock "l"' 'thread 0 "a"' '9 lock 0' 'access 1 read' 'access 1 read' '9 exit'
refused 'quantum: too short' 'quantum 1' 'thread 0 "a"' '99999999999 exit'
refused 'quantum: too short' 'quantum 0' 'thread 0 "a"' '9 exit'
refused 'others: more than 1000 threads' 'others 1000001' 'thread 0 "a"' '9 exit'
refused 'wake: more than 1 s' 'wake 1000000001' 'thread 0 "a"' '9 exit'
refused 'wake: its times fall' 'wake 10 20 15' 'thread 0 "a"' '9 exit'
refused 'line 6: not understood' "wake $(seq -s ' ' 33)" 'thread 0 "a"' '9 exit'
refused 'line 6: not understood' 'wake' 'thread 0 "a"' '9 exit'
refused 'recording: more than 1 s' 'recording 1000000001' 'thread 0 "a"' '9 exit'
refused 'costs: more than 1 s' 'costs 0 0 1000000001 0' 'thread 0 "a"' '9 exit'
refused 'line 6: not understood' 'costs 1 2 3' 'thread 0 "a"' '9 exit'
refused 'the model has no CPUs' 'cpus 0' 'thread 0 "a"' '1 exit'
echo hello >model
! "$gprof_mt" replay model 2>err || fail "accepted a text"
grep -qF "model: not a model: its first line is not 'gprof-mt-model 1'" err || fail "a text: $(cat err)"
for option in "--cpus 0" "--cpus 4..2" "--cpus x" "--runs 1" "--cpus 9999" "--cost x" "--cost 2s" "--time x"; do
	# shellcheck disable=SC2086 # two words
	"$gprof_mt" replay $option model >out 2>err
	same "$option: exit status" 2 $?
done
