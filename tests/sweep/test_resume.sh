#!/bin/bash
# SPDX-License-Identifier: MIT
# A campaign that is interrupted, killed, or out of time keeps all its runs, prints their results, and continues.
. "$GM_TOP/tests/lib.sh"
need python3
build steps

# lines DIR N: the campaign has more than N lines
lines()
{
	[ -e "$1/runs.jsonl" ] && [ "$(wc -l <"$1/runs.jsonl")" -gt "$2" ]
}

# sweep OPTION...
sweep()
{
	"$gprof_mt" sweep --runs 4 --format json -o data "$@" --workload 5,50 -- ./steps lock '{w}' 2
}

# Ctrl-C: SIGINT in its own process group, as from a terminal.
setsid python3 - "$gprof_mt" >part.json 2>err <<'END' &
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], [sys.argv[1], "sweep", "--runs", "400", "--format", "json", "-o", "data", "--workload", "5,50", "--",
                       "./steps", "lock", "{w}", "2"])
END
until_true 60 lines data 3 || fail "no runs: $(cat err)"
kill -INT $!
wait $!
same "exit status after SIGINT" 1 $?
grep -q 'interrupted: these are the results of [0-9]* runs; --resume continues' part.json || fail "notes: $(cat part.json)"
python3 - <<'END' || fail "results so far: $(cat part.json)"
import json
(step,) = json.load(open("part.json"))["steps"]
runs = [json.loads(line) for line in open("data/runs.jsonl")][1:]
assert step["runs"] == sum(run["kind"] == "plain" for run in runs) > 0 and step["verdict"] == "not all runs made", (step, runs)
END
cp data/runs.jsonl before

# A line that was cut short is dropped, the others stay, and only the missing runs are made.
printf '{"test":"steps","workload":5,"kind":"pl' >>data/runs.jsonl
sweep --resume >all.json 2>err || fail "--resume: $(cat err)"
head -n "$(wc -l <before)" data/runs.jsonl | cmp - before || fail "--resume changed the runs before it"
python3 - <<'END' || fail "after --resume: $(cat all.json data/runs.jsonl)"
import json
runs = [json.loads(line) for line in open("data/runs.jsonl")][1:]
before = [json.loads(line) for line in open("before")][1:]
n = lambda workload, kind, of: sum(run["workload"] == workload and run["kind"] == kind for run in of)
assert n(5, "recorded", runs) == 1 and n(5, "plain", runs) == max(4, n(5, "plain", before)), runs
assert n(50, "plain", runs) == 4, runs
END
# Everything was done: the same results again, without a run.
cp data/runs.jsonl before
sweep --resume >again.json 2>err || fail "--resume of all: $(cat err)"
cmp data/runs.jsonl before || fail "runs were made again"
cmp all.json again.json || fail "other results from the same runs"
# Also after the program has changed; but no run of another build is added.
cp -r data changed
touch steps
"$gprof_mt" sweep --runs 4 --format json -o changed --resume --workload 5,50 -- ./steps lock '{w}' 2 >again.json 2>err ||
	fail "--resume of all, with another program: $(cat err)"
status=0
"$gprof_mt" sweep --runs 5 --format json -o changed --resume --workload 5,50 -- ./steps lock '{w}' 2 >again.json 2>err || status=$?
same "exit status with another program" 1 $status
grep -q '^gprof-mt: \./steps has changed since run [0-9]* of the campaign: begin again in another directory (-o)$' err ||
	fail "another program: $(cat err)"
cmp data/runs.jsonl changed/runs.jsonl || fail "a run of another program was added"

# Killed: nothing but the run in progress is lost.
"$gprof_mt" sweep --runs 400 -o killed --workload 5,50 -- ./steps lock '{w}' 2 >out 2>err &
until_true 60 lines killed 2 || fail "no runs: $(cat err)"
kill -KILL $!
wait $! 2>/dev/null
"$gprof_mt" sweep --resume --runs 2 -o killed --workload 5,50 -- ./steps lock '{w}' 2 >out 2>err || fail "after SIGKILL: $(cat err)"
grep -q '^Workloads' out || fail "after SIGKILL: $(cat out)"

# The budget is used up at once.
"$gprof_mt" sweep --budget 1ns -o short --workload 5,50 -- ./steps lock '{w}' 2 >out 2>err || fail "--budget: $(cat err)"
grep -q 'the time budget is used up: these are the results of 0 runs; --resume continues' out || fail "--budget: $(cat out)"
same "runs with a budget of 1 ns" 1 "$(wc -l <short/runs.jsonl)"

# On a terminal, a line shows the progress, and the time that is left; it is removed at the end.
python3 - "$gprof_mt" <<'END' || fail "progress"
import os, pty, subprocess, sys
def shown(*options):
    master, slave = pty.openpty()
    program = subprocess.Popen([sys.argv[1], "sweep", *options, "--runs", "3", "--workload", "1,2", "-o", "-".join(["shown", *options]),
                                "--", "./steps", "lock", "{w}"], stdout=subprocess.DEVNULL, stderr=slave, env=dict(os.environ, TERM="xterm"))
    os.close(slave)
    text = b""
    try:
        while part := os.read(master, 4096):
            text += part
    except OSError:
        pass
    assert program.wait() == 0, text
    return text.decode()
lines = shown().split("\r")
assert lines[1].startswith("gprof-mt: steps w=1: recorded run 1 of 1\x1b[K"), lines
assert any(line.startswith("gprof-mt: steps w=2: plain run 3 of 3, at most ") and " left" in line for line in lines), lines
assert lines[-1] == "\x1b[K", lines
assert shown("-q") == "", "-q"
END
