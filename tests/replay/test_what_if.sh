#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt replay --what-if`: each change of a model with a run time and critical path computed by hand, random models
# and changes (changed.py), and changes that cannot be made.
. "$GM_TOP/tests/lib.sh"
need jq python3

# model LINE...: writes the lines behind the first ones of a model, without latencies
model()
{
	printf '%s\n' "gprof-mt-model 1" "cpus 4" "run 1000" "quantum 1000000" "wake 0" "$@" >model
}

# changed_ns CHANGE...: the predicted run time with all these changes, on the model's CPUs
changed_ns()
{
	local options=()
	for change; do
		options+=(--what-if "$change")
	done
	"$gprof_mt" replay --format json "${options[@]}" model >json 2>err || fail "replay $*: $(cat err)"
	jq -r '.replays[0].changed_ns' json
}

# path KEY: the parts of the last path, as "PART LOCK SITE NS"
path()
{
	jq -r --arg key "$1" '.path[] | select(.[$key]) | "\(.part)|\(.lock // "")|\(.site // "")|\(.[$key])"' json | sort
}

# Each thread: 100 ns outside, 300 in the lock. One waits: 100 + 300 + 300.
sites=('site "get (a.c:10)"' 'site "put (a.c:20)"')
model 'lock "lock"' "${sites[@]}" 'thread 0 "main"' '0 create 1' '100 lock 0 1' '300 unlock 0' '0 exit' \
	'thread created "other"' '100 lock 0 2' '300 unlock 0' '0 exit'
same "without the lock" 400 "$(changed_ns 'drop lock')"
same "the change" "-42.857 0" "$(jq -r '.replays[0] | "\(.change_pct * 1000 | round / 1000) \(.change_error_pct)"' json)"
same "the path before" 'CPU without a lock|||100
section|lock|get (a.c:10)|300
section|lock|put (a.c:20)|300' "$(path before_ns)"
same "the path without the lock" 'CPU without a lock|||400' "$(path after_ns)"
same "a lock for each site" 400 "$(changed_ns 'split lock by site')"
grep -qF 'section|lock of get (a.c:10)|get (a.c:10)|300' <(path after_ns) || grep -qF 'lock of put (a.c:20)|' <(path after_ns) ||
	fail "path of a split lock: $(path after_ns)"
same "a lock for one site" 400 "$(changed_ns 'split lock by put')"
same "groups of sites" 400 "$(changed_ns 'split lock by get/put,*.c:20')"
same "a lock for each thread" 400 "$(changed_ns 'split lock by thread')"
same "a table of locks" 400 "$(changed_ns 'split lock into 65536')"
same "two readers" 400 "$(changed_ns 'rwlock lock readers=get,put')"
same "a reader and a writer" 700 "$(changed_ns 'rwlock lock readers=a.c:10')"
# Of 300 ns, 150 stay, 75 move before and 75 behind: 175 + 150 + 150 + 75, or 175 + 150 + 300.
same "shorter sections" 550 "$(changed_ns 'shrink get to 50 %' 'shrink put to 50%')"
same "a shorter section" 625 "$(changed_ns 'shrink get to 50')"
same "empty sections" 400 "$(changed_ns 'shrink * to 0 %')"
same "spinning" 700 "$(changed_ns 'spin lock')"
same "one CPU" 800 "$(changed_ns 'cpus 1')"
same "the path on one CPU" 'CPU without a lock|||100
section|lock|put (a.c:20)|300
wake-ups, no CPU|||400' "$(path after_ns)"
same "two changes" 800 "$(changed_ns 'drop lock' 'cpus 1')"

# A reader's section in another one's: the inner lock is still taken, in the same order.
model 'lock "outer"' 'lock "inner"' "${sites[@]}" 'thread 0 "a"' '0 lock 0 1' '10 lock 1 2' '20 unlock 1' '30 unlock 0' \
	'0 exit' 'thread 0 "b"' '0 lock 0 1' '10 lock 1 2' '20 unlock 1' '30 unlock 0' '0 exit'
same "nested sections, as they are" 120 "$(changed_ns 'rwlock outer readers=get' >/dev/null; jq '.replays[0].run_ns' json)"
same "a shared outer lock" 80 "$(changed_ns 'rwlock outer readers=get')"
same "both shared" 60 "$(changed_ns 'rwlock outer readers=get' 'rwlock inner readers=put')"
# The inner section has 20 ns, of which 5 move before and 5 behind, still in the outer one.
same "a shorter inner section" 120 "$(changed_ns 'shrink put to 50 %')"

# A condition wait releases and takes the mutex at its own site 3: the sections at 1 and 2 keep one mutex, 4 does not.
model 'lock "queue"' "${sites[@]}" 'site "wait (a.c:30)"' 'site "count (a.c:40)"' \
	'thread 0 "consumer"' '10 lock 0 1' '0 unlock 0 3' '0 await 1:1' '0 lock 0 3' '5 unlock 0 1' '0 exit' \
	'thread 0 "producer"' '20 lock 0 2' '5 signal' '5 unlock 0 2' '0 exit' \
	'thread 0 "counter"' '20 lock 0 4' '100 unlock 0 4' '0 exit'
same "a mutex with a condition, split" 120 "$(changed_ns 'split queue by site')"
grep -q 'sections of queue that use a condition, or are entered where others do, keep one lock: 2' \
	<("$gprof_mt" replay --what-if 'split queue by site' model) || fail "no note about conditions"
same "a mutex with a condition, dropped" 120 "$(changed_ns 'drop queue')"

# A function that is half of the CPU time in sections of get, and a tenth outside, takes 50 % less: of 100 ns outside 5,
# of 300 in get 75. It is changed before the lock is dropped.
model 'lock "lock"' "${sites[@]}" 'share 50 100 1 "parse"' 'share 1 10 outside "parse"' 'share 0 7 2 "parse"' \
	'share 0 9 outside "idle"' 'thread 0 "main"' '0 create 1' '100 lock 0 1' '300 unlock 0' '0 exit' \
	'thread created "other"' '100 lock 0 2' '300 unlock 0' '0 exit'
same "a faster function" 620 "$(changed_ns 'faster parse by 50 %')"
grep -q 'by samples, 43.6 % of the CPU time is in parse' json || fail "faster: $(cat json)"
same "a function that takes no time" 540 "$(changed_ns 'faster parse by 100 %')"
same "a faster function, without the lock" 395 "$(changed_ns 'drop lock' 'faster parse by 50')"
"$gprof_mt" replay --write copy model >/dev/null && "$gprof_mt" replay --what-if 'faster parse by 50 %' --format json \
	copy | jq -e '.replays[0].changed_ns == 620' >/dev/null || fail "shares in a written model: $(cat copy)"

# By its calls, parse has 40 of main's 100 ns outside, scan 10 of these, and parse all 300 in the section; of the other
# thread's 220 none.
model 'lock "lock"' "${sites[@]}" 'function 2 "parse"' 'function 0 "idle"' 'function 1 "scan"' 'thread 0 "main"' '0 create 1' \
	'100 lock 0 1' 'in 0 40' 'in 2 10' '300 unlock 0' 'in 0 300' '0 exit' 'thread created "other"' '220 exit'
same "a faster function by calls" 230 "$(changed_ns 'faster parse by 50 %')"
grep -q 'by the history of calls, 54.8 % of the CPU time is in parse' json || fail "faster by calls: $(cat json)"
same "two faster functions by calls" 222 "$(changed_ns 'faster parse by 50 %' 'faster scan by 100 %')"
same "a function by calls that takes no time" 220 "$(changed_ns 'faster parse by 100 %')"
"$gprof_mt" replay --what-if 'faster idle by 50 %' model >out 2>err && fail "a function without calls: $(cat out)"
grep -q "the history has no call of this function" err || fail "a function without calls: $(cat err)"
"$gprof_mt" replay --write copy model >/dev/null && cmp <(grep -E '^(in|function) ' copy) <(grep -E '^(in|function) ' model) ||
	fail "calls in a written model: $(cat copy)"

# By data: two sections on the first, one on the second, one on none; the writer of the first is at the site put.
model 'lock "lock"' "${sites[@]}" 'thread 0 "a"' '0 lock 0 1' 'access 1 read' '100 unlock 0' '0 exit' \
	'thread 0 "b"' '0 lock 0 2' 'access 1 write' '100 unlock 0' '0 exit' \
	'thread 0 "c"' '0 lock 0 2' 'access 2 write' '100 unlock 0' '0 exit' \
	'thread 0 "d"' '0 lock 0 1' 'access 0 read' '100 unlock 0' '0 exit'
same "a lock for each data" 200 "$(changed_ns 'split lock by object')"
grep -q 'sections of lock that share no written data need no lock: 1' json || fail "by object: $(cat json)"
same "a read-write lock by accesses" 300 "$(changed_ns 'rwlock lock')"
"$gprof_mt" replay --write copy model >/dev/null && cmp <(grep access copy) <(grep access <(cat model)) >/dev/null &&
	[ "$("$gprof_mt" replay --what-if 'split lock by object' --format json copy | jq '.replays[0].changed_ns')" = 200 ] ||
	fail "accesses in a written model: $(cat copy)"
grep -v access copy >model
same "a lock for each data, without known accesses" 200 "$(changed_ns 'split lock by object')"
grep -q 'no accesses are recorded: lock is split by call site' json || fail "by object: $(cat json)"

# Main's section has its conflicts from a fifth to the half of its accesses: of 300 ns, 60 move before and 150 behind
# it, so that the other thread has the lock first: 400 + 90 + 150.
model 'lock "lock"' "${sites[@]}" 'thread 0 "main"' '0 create 1' '100 lock 0 1' 'access 1 write 200000 500000' \
	'300 unlock 0' '0 exit' 'thread created "other"' '100 lock 0 2' 'access 1 write' '300 unlock 0' '0 exit'
same "before" 700 "$(changed_ns 'cpus 4')"
same "a section from its first to its last conflict" 640 "$(changed_ns 'shrink get to conflicts')"
grep -q 'get: 30.0 % of the CPU time in its sections is from the first to the last conflict' json || fail "conflicts: $(cat json)"
same "sections of which one has unknown conflicts" 640 "$(changed_ns 'shrink * to conflicts')"
grep -q 'or their accesses are not known: 1 of 2' json || fail "unknown conflicts: $(cat json)"
"$gprof_mt" replay --what-if 'shrink put to conflicts' model >out 2>err && fail "unknown conflicts: $(cat out)"
same "a section without known conflicts" "gprof-mt: --what-if: 'shrink put to conflicts': of none of the 1 sections it is known \
where they conflict with others; gprof-mt-predict(1) tells how to record accesses" "$(cat err)"
"$gprof_mt" replay --write copy model >/dev/null && cmp <(grep access copy) <(grep access model) || fail "spans: $(cat copy)"

# The section has a step in its middle, behind which it has its conflicts: both threads have the lock for 100 ns.
model 'lock "lock"' "${sites[@]}" 'thread 0 "a"' '0 lock 0 1' 'access 1 write 500000 1000000' '100 signal' '100 unlock 0' \
	'0 exit' 'thread 0 "b"' '0 lock 0 2' '100 unlock 0' '0 exit'
same "a section with a step" 200 "$(changed_ns 'shrink get to conflicts')"
model 'lock "lock"' "${sites[@]}" 'thread 0 "a"' '0 lock 0 1' 'access 0 read 0 0' '100 unlock 0' '0 exit' 'thread 0 "b"' \
	'0 lock 0 2' '100 unlock 0' '0 exit'
same "a section without conflicts" 100 "$(changed_ns 'shrink get to conflicts')"

# Several calls with one name are one call site: the threads are of one kind, and the lock stays one.
model 'lock "lock"' 'site "start (a.c:1)"' 'site "start (a.c:1)"' 'site "get (a.c:2)"' 'site "get (a.c:2)"' \
	'thread 0 "main"' '0 create 1 1' '0 create 2 2' '0 await 1:2' '0 await 2:2' '0 exit' \
	'thread created "w"' '0 lock 0 3' '100 unlock 0' '400 exit' 'thread created "w"' '0 lock 0 4' '100 unlock 0' '400 exit'
same "two threads of one kind" 1000 "$(changed_ns 'threads 1')"
"$gprof_mt" replay --what-if 'split lock by site' model >out 2>&1 && fail "one call site was split: $(cat out)"
same "a call site is ranked once" 1 \
	"$("$gprof_mt" replay --rank --format json model | jq '[.rank[] | select(.change | test("shrink"))] | length')"

# A thread of 1000 ns becomes four of 250; with a barrier, it is for as many. Sections are not cut.
model 'lock "lock"' "${sites[@]}" 'thread 0 "main"' '0 create 1' '0 await 1:0' '7 exit' 'thread created "worker"' '1000 exit'
same "four threads" 257 "$(changed_ns 'threads 4')"
same "as many threads" 1007 "$(changed_ns 'threads 1 of work*')"
model 'barrier 2 "b"' 'thread 0 "main"' '0 create 1' '0 create 2' '0 await 1:1' '0 await 2:1' '0 exit' \
	'thread created "w"' '400 barrier 0' '100 exit' 'thread created "w"' '400 barrier 0' '100 exit'
same "four threads and a barrier" 250 "$(changed_ns 'threads 4')"
same "one thread and a barrier" 1000 "$(changed_ns 'threads 1')"
model 'lock "lock"' "${sites[@]}" 'thread 0 "main"' '0 create 1' '0 await 1:4' '0 exit' 'thread created "w"' '0 lock 0 1' \
	'100 unlock 0' '0 lock 0 1' '100 unlock 0' '0 exit'
same "sections of two threads" 200 "$(changed_ns 'threads 2')"
same "sections of two threads, without the lock" 100 "$(changed_ns 'threads 2' 'drop lock')"

# The path goes to the thread that ended a wait, by a post, a barrier, a signal or its end, and to the creator.
model 'sem 0 "s"' 'barrier 2 "b"' 'thread 0 "main"' '10 create 1' '0 wait 0' '5 barrier 1' '3 await 1:3' '2 exit' \
	'thread created "t"' '40 post 0' '20 barrier 1' '1 sleep 30' '0 exit'
changed_ns 'cpus 4' >/dev/null
same "a path through posts, barriers, joins" 'CPU without a lock|||73
sleep, I/O|||30' "$(path before_ns)"
same "its length" 103 "$(jq '.replays[0].run_ns' json)"
model 'thread 50 "late"' '10 exit'
changed_ns 'cpus 1' >/dev/null
same "a path that begins late" 'CPU without a lock|||10
before the first thread|||50' "$(path before_ns)"

# Real threads run the changed model, too: the sleeps of 50 ms in the lock come one after the other, or together.
model 'lock "lock"' "${sites[@]}" 'thread 0 "main"' '0 create 1' '0 lock 0 1' '0 sleep 50000000' '0 unlock 0' '0 exit' \
	'thread created "other"' '0 lock 0 2' '0 sleep 50000000' '0 unlock 0' '0 exit'
for change in 'drop lock' 'split lock by site' 'rwlock lock readers=get,put'; do
	"$gprof_mt" replay --engine skeleton --cpus 1 --runs 2 --what-if "$change" --format json model >json 2>err ||
		fail "skeleton: $change: $(cat err)"
	jq -e '.replays[0] | .run_ns >= 1e8 and .changed_ns >= 5e7 and .change_pct < 0' json >/dev/null ||
		fail "skeleton: $change: $(cat json)"
done

python3 "$GM_TOP/tests/replay/changed.py" "$gprof_mt" 1 24 || fail "random models and changes: see above"

# refused STATUS TEXT CHANGE: it is refused in one line
refused()
{
	"$gprof_mt" replay --what-if "$3" model >out 2>err
	same "$3: exit status" "$1" $?
	same "$3: number of lines" 1 "$(wc -l <err)"
	grep -qF -- "$2" err || fail "$3: expected $2, got $(cat err)"
}

# Two locks in a row, 400: without the first one, the thread b waits as long for the second one; without that, 350.
model 'lock "first"' 'lock "second"' 'thread 0 "a"' '0 lock 0' '100 unlock 0' '0 lock 1' '150 unlock 1' '0 exit' \
	'thread 0 "b"' '0 lock 0' '100 unlock 0' '0 lock 1' '150 unlock 1' '0 exit'
"$gprof_mt" replay --rank --format json model >json || fail "--rank: $(cat json)"
same "each change alone" "drop second 350, drop first 400" \
	"$(jq -r '[.rank[] | "\(.change) \(.changed_ns)"] | join(", ")' json)"
same "both changes" "drop second; drop first 250 -12.5" \
	"$(jq -r '.combined[] | "\(.changes) \(.changed_ns) \(.best_alone_pct)"' json)"

# The ranking: of the lock that a thread waits for, not of the other one, and the greatest gain first.
model 'lock "busy"' 'lock "idle"' "${sites[@]}" 'thread 0 "a"' '0 lock 0 1' '300 unlock 0' '0 lock 1 2' '5 unlock 1' '0 exit' \
	'thread 0 "b"' '0 lock 0 1' '300 unlock 0' '0 exit'
"$gprof_mt" replay --rank --format json model >json || fail "--rank: $(cat json)"
same "the ranking" 'drop busy|300|305|-49.2
shrink get (a.c:10) to 50 %|300|450|-25' \
	"$(jq -r '.rank[] | "\(.change)|\(.wait_ns)|\(.changed_ns)|\(.change_pct * 10 | round / 10)"' json)"
grep -q 'locks left out, since no thread waits for them: 1' json || fail "--rank: $(cat json)"

# The page has the same tables, and a curve of two lines over the numbers of CPUs.
"$gprof_mt" replay --what-if 'drop busy' --cpus 1..4 --format html --output page.html model || fail "--format html"
python3 - <<'END' || fail "page.html: see above"
import re, xml.etree.ElementTree
page = open("page.html", encoding="utf-8").read()
assert "<script" not in page and "Critical path of a simulation" in page
svg = xml.etree.ElementTree.fromstring(re.search(r"<svg.*?</svg>", page, re.S)[0])
lines = [[tuple(map(float, point.split(","))) for point in line.get("points").split()] for line in svg.iter("polyline")]
assert len(lines) == 2 and all(len(line) == 4 for line in lines), lines
# Run times of 605 and 605 ns on one CPU, 600 and 305 on more: time 0 is at the height of 275, 605 at 20.
before, after = ([round((275 - y) / 255 * 605) for x, y in line] for line in lines)
assert before[0] == after[0] == 605 and all(abs(t - 600) <= 1 for t in before[1:]), (before, after)
assert all(abs(t - 305) <= 1 for t in after[1:]), after
END

# The check of a complete model, and of one in which nothing ends a wait.
"$gprof_mt" replay --check --format json model >json || fail "--check: $(cat json)"
same "--check: gaps" 0 "$(jq '[.check[].count] | add' json)"
model 'sem 0 "s"' 'thread 0 "a"' '10 wait 0' '0 exit'
"$gprof_mt" replay --check model >out 2>err
same "--check: exit status" 1 $?
grep -q 'threads that wait for ever in a replay *1 .*no run times' out && grep -q 'the run cannot be replayed' out ||
	fail "--check: $(cat out err)"

model 'lock "cache.lock"' "${sites[@]}" 'thread 0 "a"' '0 lock 0 1' '10 unlock 0 2' '0 exit'
refused 2 "'' (expected drop, spin, split" ''
refused 2 "(expected drop, spin, split, rwlock, shrink, faster, threads or cpus)" 'burn it'
refused 2 "(expected drop LOCK)" 'drop'
refused 2 "(expected split LOCK by site" 'split cache.lock'
refused 2 "(expected split LOCK by site" 'split cache.lock by get,/put'
refused 2 "(expected rwlock LOCK" 'rwlock'
refused 1 "which sections of cache.lock write shared data is not known: name the readers" 'rwlock cache.lock'
refused 2 "(expected shrink SITE to F %" 'shrink get to 101 %'
refused 2 "(expected shrink SITE to F %" 'shrink get to half'
refused 2 "(expected faster FUNCTION by F %" 'faster parse'
refused 1 "parse: the CPU time of functions is not known: record with sample.hz" 'faster parse by 10 %'
refused 2 "(expected threads N of NAME" 'threads 0'
refused 2 "(expected cpus P" 'cpus 1025'
refused 1 "no lock is named 'cache-lock'; there is 'cache.lock'" 'drop cache-lock'
refused 1 "no lock is named 'x': see gprof-mt report locks" 'drop x'
refused 1 "no call site is named 'pet'; there is 'get (a.c:10)'" 'shrink pet to 10 %'
refused 1 "'shrink put to 10 %' changes nothing: no lock is acquired at this call site" 'shrink put to 10 %'
refused 1 "changes nothing: one lock is left" 'split cache.lock by site'
refused 1 "no thread was created by another one" 'threads 2'
model 'barrier 2 "b"' 'thread 0 "main"' '0 create 1' '0 create 2' '0 exit' 'thread created "w"' '4 barrier 0' '1 exit' \
	'thread created "w"' '4 exit'
refused 1 "threads of this kind do not pass the same barriers" 'threads 4'
refused 1 "no thread that another one created is named 'x*'" 'threads 4 of x*'
