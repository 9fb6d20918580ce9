#!/bin/bash
# SPDX-License-Identifier: MIT
# Bad input gives one line that says what is wrong and what to do, before the first run; runs that hang, crash or fail
# are ended, reported, and do not count.
. "$GM_TOP/tests/lib.sh"
need python3
build steps

# refuses STATUS TEXT ARG...: one line on stderr with that text, no output, and no directory
refuses()
{
	local want=$1 text=$2 status=0
	shift 2
	"$gprof_mt" sweep -o none "$@" >out 2>err </dev/null || status=$?
	same "exit status of $*" "$want" $status
	same "lines for $*" 1 "$(wc -l <err)"
	grep -qF -- "$text" err || fail "$*: expected '$text', got: $(cat err)"
	[ ! -s out ] && [ ! -e none ] || fail "$*: prints $(cat out), or has made a directory"
}

refuses 1 './missing: no such command' --workload 1,2 -- ./missing '{w}'
refuses 2 'the command has no {w}' --workload 1,2 -- ./steps lock
refuses 2 'the command has {w}, but no workload is given' -- ./steps lock '{w}'
refuses 2 'the command has no {t}' --threads '{t}=1,2' -- ./steps lock 1
refuses 2 'the command has {t}, but no number of threads' --workload 1,2 -- ./steps lock '{w}' '{t}'
refuses 2 'the command has {w/t}, but no workload is given' --threads '{t}=1,2' -- ./steps lock '{w/t}'
refuses 2 'the command has {w/t}, but no number of threads' --workload 1,2 -- ./steps lock '{w/t}'
refuses 2 'the command has {w/t}, but workload 9 is no multiple of 2 threads: choose multiples' \
	--threads '{t}=1,2' --workload 8,9 -- ./steps lock '{w/t}'
refuses 2 'nothing varies' --workload 5 -- ./steps lock '{w}'
refuses 2 'nothing varies' -- ./steps lock 1
for range in 20..10:5 a 1.. 1..5:0 1..5*1 0..5 2,1 1,,2 '' 1..2..3 5x 99999999999999999999; do
	refuses 2 "invalid --workload: '$range' is not FIRST..LAST:STEP" --workload "$range" -- ./steps lock '{w}'
done
refuses 2 "invalid --runs '1' (expected a number from 2 on; a single run has no spread)" --runs 1 --workload 1,2 -- ./steps lock '{w}'
refuses 2 "invalid --timeout '0'" --timeout 0 --workload 1,2 -- ./steps lock '{w}'
refuses 2 "invalid --budget 'soon'" --budget soon --workload 1,2 -- ./steps lock '{w}'
refuses 2 "invalid --metric 'x'" --metric x --workload 1,2 -- ./steps lock '{w}'
refuses 2 "--set: unknown key 'mod' in 'sync'" --set sync.mod=all --workload 1,2 -- ./steps lock '{w}'
refuses 2 "--set: invalid value 'most' for sync.mode" --set sync.mode=most --workload 1,2 -- ./steps lock '{w}'
refuses 2 'cpus: 100000 of' --cpus 1,100000 -- ./steps lock 1
refuses 2 'no command to run' --workload 1,2
refuses 1 'nothing to resume' --resume --workload 1,2 -- ./steps lock '{w}'
refuses 1 'missing.ini' missing.ini
refuses 2 'put them into' --workload 1,2 tests.ini

# file TEXT LINE...: a key file of these lines is refused
file()
{
	local text=$1
	shift
	printf '%b\n' "$@" >tests.ini
	refuses 1 "$text" tests.ini
}
file 'no tests: add a group' '# none'
file '[tset a]: expected [test NAME]' '[tset a]' 'command=true {w}'
file "[test ../a]: expected [test NAME]" '[test ../a]' 'command=true {w}'
file "[test a]: unknown key 'wrokload'" '[test a]' 'command=true {w}' 'wrokload=1,2'
file '[test a]: no command' '[test a]' 'workload=1,2'
file "[test a]: workload: '5..1' is not" '[test a]' 'command=true {w}' 'workload=5..1'
file "[test a]: warmup: 'x' is not a number" '[test a]' 'command=true {w}' 'workload=1,2' 'warmup=x'
file '[test b]: ./missing: no such command' '[test a]' 'command=true {w}' 'workload=1,2' '[test b]' 'command=./missing {w}' 'workload=1,2'
file 'line 4: a second [test a]' '[test a]' 'command=true {w}' 'workload=1,2' '[test a]' 'command=false {w}'
file 'line 4: a second workload= in [test a]' '[test a]' 'command=true {w}' 'workload=1,2' ' workload =5,6'
file 'line 3: expected [GROUP], KEY=VALUE or # COMMENT' '[test a]' 'command=true {w}' $'\e[2Jworkload'
file 'no key file: the byte at 32 is not UTF-8' '[test a]' 'command=true {w}' 'check=\xff'
refuses 1 'steps: no key file: the byte at' ./steps
refuses 1 '/dev/null: not a regular file' /dev/null
file 'command: ' '[test a]' "command=true '{w}" 'workload=1,2'

# An existing directory, or one of other tests, is left as it is.
mkdir kept
echo precious >kept/file
status=0
"$gprof_mt" sweep -o kept --workload 1,2 -- ./steps lock '{w}' >out 2>err || status=$?
same "exit status with an existing directory" 1 $status
grep -q 'kept exists: continue it with --resume, or choose another directory (-o)' err || fail "$(cat err)"
same "an existing directory" file "$(ls kept)"

# A directory that cannot be made: nothing is written elsewhere.
for dir in '' missing/dir; do
	status=0
	ls >before
	"$gprof_mt" sweep -o "$dir" --workload 1,2 -- ./steps lock '{w}' >out 2>err || status=$?
	same "exit status with directory '$dir'" 1 $status
	grep -qF "cannot create the directory '$dir': No such file or directory" err || fail "'$dir': $(cat err)"
	ls | cmp - before || fail "'$dir': other files"
done

# sweep_of KIND OPTION...: to out and err; the campaign does its other work
sweep_of()
{
	local kind=$1
	shift
	"$gprof_mt" sweep --runs 4 -o "$kind" "$@" --workload 1..3 -- ./steps "$kind" '{w}' >out 2>err || fail "$kind: $(cat err)"
}
sweep_of hang --timeout 200ms
grep -q 'killed after 200 ms (--timeout)' out || fail "hang: $(cat out)"
none_left()
{
	local pid
	while read -r pid; do
		[ ! -e "/proc/$pid/stat" ] || grep -q ') Z ' "/proc/$pid/stat" || return 1
	done <pids
}
[ "$(wc -l <pids)" -ge 6 ] || fail "expected the pids of three runs and their children, got: $(cat pids)"
until_true 20 none_left || fail "processes of a run that was killed are left: $(cat pids)"
grep -q 'given up at workload 2: its runs fail' out || fail "hang: $(cat out)"
same "attempts of a workload that always hangs" 3 "$(grep -c '"workload":2,.*"kind":"plain"' hang/runs.jsonl)"
same "runs before the hang" 4 "$(grep -c '"workload":1,.*"kind":"plain".*"exit_status":0[,}]' hang/runs.jsonl)"
status=0
"$gprof_mt" sweep --resume -o hang --workload 1..4 -- ./steps hang '{w}' >out 2>err || status=$?
same "exit status of --resume with other tests" 1 $status
grep -q 'begun with other tests: repeat its arguments, or choose another directory (-o)' err || fail "$(cat err)"
sweep_of crash
grep -q 'ended by signal 6 (Aborted)' out || fail "crash: $(cat out)"
sweep_of fail
grep -q 'exit status 3  *failed.[0-9]*$' out || fail "fail: $(cat out)"
grep -qx 'fail 2' fail/failed.* || fail "what a failed run printed: $(cat fail/failed.*)"

# A check that fails.
printf '%s\n' '[test a]' 'command=./steps lock {w}' 'workload=1,2' "check=grep -x 'lock 1'" >tests.ini
"$gprof_mt" sweep --runs 3 -o checked tests.ini >out 2>err || fail "check: $(cat err)"
grep -q 'check: exit status 1' out || fail "check: $(cat out)"
grep -q 'given up at workload 2: its runs fail' out || fail "check: $(cat out)"

# A value of a key file is taken as it is written: '\t' is for the shell, and not for the file.
printf %s 'a\tb' >expected
printf '%s\n' '[test a]' 'command=./steps lock {w}' 'workload=1,2' "check=printf %s 'a\tb' | cmp - expected" >tests.ini
"$gprof_mt" sweep --runs 2 -o raw tests.ini >out 2>err || fail "backslashes: $(cat err)"
grep -q 'exit status' out && fail "backslashes: $(cat out)"

# A damaged log is refused, and stays as it is: a line that is no JSON, one with zeros as after a power failure, a
# recorded run without its capture, and times that no run can have.
damaged()
{
	local status=0
	rm -rf bad
	cp -r fail bad
	sed -i "$1" bad/runs.jsonl
	cp bad/runs.jsonl before
	"$gprof_mt" sweep --resume --runs 4 -o bad --workload 1..3 -- ./steps fail '{w}' >out 2>err || status=$?
	same "exit status with a log damaged by $1" 1 $status
	same "lines about a log damaged by $1" 1 "$(wc -l <err)"
	grep -q 'runs.jsonl: damaged: the line at byte [0-9]* is no run: remove it to continue with the others' err ||
		fail "damaged by $1: $(cat err)"
	cmp bad/runs.jsonl before || fail "damaged by $1: runs are lost"
}
damaged '3s/.*/{"test":1/'
damaged '3s/^.../\x00\x00\x00/'
damaged '/"kind":"recorded"/s/,"file":"[^"]*"//'
damaged '3s/"wall_ns":[0-9]*/"wall_ns":0/'
damaged '3s/"user_ns":[0-9]*/"user_ns":-5/'

# With stderr closed, messages do not get into the log.
"$gprof_mt" sweep --runs 2 --format csv -o closed --workload 1,2 -- ./steps lock '{w}' >out 2>&- || fail "without stderr: $(cat out)"
! grep -v '^{' closed/runs.jsonl || fail "without stderr, the log has messages"
"$gprof_mt" sweep --resume --runs 3 --format csv -o closed --workload 1,2 -- ./steps lock '{w}' >out 2>&- || fail "--resume without stderr"
! grep -v '^{' closed/runs.jsonl || fail "--resume without stderr: the log has messages"
same "runs without stderr" 9 "$(wc -l <closed/runs.jsonl)"

# A campaign that is being made cannot be continued by another one.
rm pids
"$gprof_mt" sweep -q -o busy --workload 2,3 -- ./steps hang '{w}' >busy.out 2>&1 &
until_true 60 test -s pids || fail "no run: $(cat busy.out)"
status=0
"$gprof_mt" sweep --resume -o busy --workload 2,3 -- ./steps hang '{w}' >out 2>err || status=$?
same "exit status with a campaign in use" 1 $status
grep -q 'busy: in use by another sweep: wait for its end, or choose another directory (-o)' err || fail "busy: $(cat err)"
kill -TERM $!
wait $! || true
