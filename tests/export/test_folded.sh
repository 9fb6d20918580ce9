#!/bin/bash
# SPDX-License-Identifier: MIT
# Folded stacks: calls agree with the program's own log; time, CPU time and blocked time with the reports. For
# every export: an incomplete file never has the requested name.
. "$GM_TOP/tests/calls/common.sh"
need jq

# export_ OPTION...
export_() { "$gprof_mt" export --format folded "$@"; }

# refused STATUS TEXT OPTION...: prints one line with the text and leaves no file.
refused()
{
	local status=$1 text=$2 got=0
	shift 2
	rm -rf there && mkdir there
	"$gprof_mt" export "$@" -o there/file >out 2>err || got=$?
	[ $got -eq "$status" ] || fail "$*: exit status $got: $(cat err)"
	[ "$(wc -l <err)" -eq 1 ] || fail "$*: expected one line, got: $(cat err)"
	grep -qF -- "$text" err || fail "$*: expected '$text', got: $(cat err)"
	[ -z "$(ls -A there)" ] || fail "$*: it left $(ls -A there)"
	[ ! -s out ] || fail "$*: it printed: $(cat out)"
}

cat >check.py <<'END'
import collections, json, subprocess, sys

gprof_mt, what = sys.argv[1:3]

def run(*words):
    return subprocess.run([gprof_mt, *words], check=True, stdout=subprocess.PIPE).stdout.decode()

def folded(*words):
    stacks = {}
    for line in run("export", "--format", "folded", "-o", "-", *words).splitlines():
        stack, number = line.rsplit(" ", 1)
        assert stack not in stacks, line
        stacks[tuple(stack.split(";"))] = int(number)
    assert stacks and 0 not in stacks.values()
    return stacks

def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {sorted(got.items() ^ want.items())[:10]}")

def tid(frame):
    return int(frame.split("(tid ")[1].split(",")[0])

def of_log(name):
    stack, counts = [], collections.Counter()
    for letter in open(name).read():
        if letter.isupper():
            assert stack.pop() == "f" + letter.lower()
        else:
            stack.append("f" + letter)
            counts[tuple(stack)] += 1
    return counts

def calls(logs):
    together = collections.Counter()
    stacks = folded("--what", "calls")
    for log in logs:
        counts = of_log(log)
        together.update(counts)
        mine = {s[1:]: n for s, n in stacks.items() if tid(s[0]) == int(log.split(".")[1])}
        same(log, mine, dict(counts))
        same(log + " by tid", folded("--tid", log.split(".")[1]), {k: n for k, n in stacks.items()
             if tid(k[0]) == int(log.split(".")[1])})
    same("--no-threads", folded("--no-threads"), dict(together))

def time(logs):
    stacks = folded("--what", "time")
    for log in logs:
        number = log.split(".")[1]
        of_call, of_stack = collections.Counter(), collections.Counter()
        lines = json.loads(run("history", "--calls", "--tid", number, "--format", "json"))["calls"]
        for line in lines:
            if line["depth"] == 0 and line["event"] != "call":
                of_call[line["function"]] += line["duration_ns"]
        for stack, ns in stacks.items():
            if tid(stack[0]) == int(number):
                of_stack[stack[1]] += ns
        same("time of " + log, dict(of_stack), {k: n for k, n in of_call.items() if n})
    # Parts of the time add up to the whole.
    parts = collections.Counter()
    for part in "~2ms", "2ms~3ms", "3ms~":
        try:
            parts.update(folded("--what", "time", "--time", part))
        except subprocess.CalledProcessError:
            pass
    same("--time", dict(parts), stacks)

def off_cpu(_):
    """Of blocking calls, the report has sums of groups of threads."""
    report = json.loads(run("report", "--format", "json", "threads", "io"))
    want = {t["tid"]: t["blocked_sync_ns"] for t in report["threads"] if t["blocked_sync_ns"]}
    calls = {row["call"] for row in report["io"]}
    sums, blocked = collections.Counter(), 0
    for stack, ns in (folded("--what", "off-cpu") if want else {}).items():
        if calls & set(stack[-1:]):
            blocked += ns
        else:
            sums[tid(stack[0])] += ns
    same("off-cpu", dict(sums), want)
    kept = "blocked_ns" if any(t["running_ns"] is not None for t in report["threads"]) else "wait_ns"
    same("off-cpu in calls", blocked, sum(row[kept] for row in report["io"]))

def off_wake(_):
    """The same stacks and times, each followed by the waker."""
    together = collections.Counter()
    for stack, ns in folded("--what", "off-wake").items():
        assert stack.count("--") == 1, stack
        together[stack[:stack.index("--")]] += ns
    same("off-wake", dict(together), folded("--what", "off-cpu"))

def blame(_):
    """The time of all waits, by kind of cause; idle waits apart."""
    report = json.loads(run("report", "--format", "json", "locks", "blame"))
    stacks, want, got = folded("--what", "blame"), collections.Counter(), collections.Counter()
    assert sum(stacks.values()) == sum(row["wait_ns"] or 0 for row in report["locks"]), stacks
    for row in report["blame"]:
        want[f"[{row['kind']}]"] += row["wait_ns"] - row["idle_ns"]
        want["[idle]"] += row["idle_ns"]
    for stack, ns in stacks.items():
        got[stack[0]] += ns
    same("blame", dict(got), {kind: ns for kind, ns in want.items() if ns})
    got, want = collections.Counter(), collections.Counter()
    for stack, ns in stacks.items():
        got[stack[-1]] += ns
    for row in report["blame"]:
        want[row["name"]] += row["wait_ns"]
    same("blame by object", dict(got), dict(want))

def flat():
    want = {}
    for row in json.loads(run("report", "--format", "json", "flat"))["functions"]:
        if row["samples"]:
            want[row["tid"], row["name"]] = row["samples"] * row["sample_period_ns"]
    assert want
    return want

def paths(_):
    """The last function of a path is the one that flat has, which knows no inlined functions."""
    got, inner = collections.Counter(), 0
    for stack, ns in folded("--what", "samples", "--no-inline").items():
        got[tid(stack[0]), stack[-1]] += ns
        inner += ns if "main" in stack[:-1] or "start_thread" in stack[:-1] else 0
    same("samples with paths", dict(got), flat())
    assert inner > 0.9 * sum(got.values()), (inner, got)

def samples(_):
    want = flat()
    got = {(tid(s[0]), *s[1:]): n for s, n in folded("--what", "samples").items()}
    same("samples", got, want)
    together = collections.Counter()
    for (_, name), ns in want.items():
        together[(name,)] += ns
    same("samples of all", folded("--what", "samples", "--no-threads"), dict(together))

if __name__ == "__main__":
    {"calls": calls, "time": time, "samples": samples, "paths": paths, "off-cpu": off_cpu, "off-wake": off_wake,
     "blame": blame}[what](sys.argv[3:])
END

for flags in "-pg -mfentry -minstrument-return=call" -finstrument-functions; do
	configure
	# shellcheck disable=SC2086 # the flags are split on purpose
	build_from sequence sequence.c $flags
	fresh ./sequence tree 2 || fail "$flags: exit status $?"
	python3 check.py "$gprof_mt" calls log.* || fail "$flags: calls"
	python3 check.py "$gprof_mt" time log.* || fail "$flags: time"
done

# The file: the same as on standard output, with the default mode, replacing an old one.
export_ -o - >want || fail "export to standard output fails"
echo old >gprof-mt.folded
(umask 022 && export_) || fail "the default file"
cmp want gprof-mt.folded || fail "the default file differs"
[ "$(stat -c %a gprof-mt.folded)" = 644 ] || fail "mode $(stat -c %a gprof-mt.folded)"
[ -z "$(find . -maxdepth 1 -name 'gprof-mt.folded.*')" ] || fail "temporary files are left: $(ls)"
refused 1 "no thread has tid 1;" --format folded --tid 1
refused 2 "invalid --format 'xml'" --format xml
refused 2 "no --format" --what calls
refused 2 "expected calls, time, samples, off-cpu" --format folded --what all
refused 2 "--object: this command does not accept it" --format folded --object 0x1
export_ -o /dev/full 2>err && fail "/dev/full: exit status 0"
[ "$(wc -l <err)" -eq 1 ] || fail "/dev/full: expected one line, got: $(cat err)"
[ -c /dev/full ] || fail "/dev/full is gone"
export_ -o - >/dev/full 2>err && fail "a full disk: exit status 0"
grep -q 'No space left' err || fail "a full disk: expected 'No space left', got: $(cat err)"

# Data that the capture does not have.
configure
build_from sequence sequence.c -pg
fresh ./sequence tree 2 || fail "-pg: exit status $?"
refused 1 "the history of calls has no returns" --format folded --what time
rm gprof-mt.conf
fresh ./sequence tree 2 || fail "no history: exit status $?"
refused 1 "no history of calls" --format folded
refused 1 "or use --what samples, off-cpu, off-wake" --format folded --what time
refused 1 "no thread was blocked" --format folded --what off-cpu
refused 1 "no thread waited for an object" --format folded --what blame

# CPU time, if it can be sampled.
"$CC" -std=gnu17 -D_GNU_SOURCE -O1 -g -pg -pthread -o ratio "$GM_TOP/tests/sample/programs/ratio.c" \
	-L"$GM_BUILD" -lgmon_mt -Wl,-rpath,"$GM_BUILD" || fail "cannot compile ratio"
for stacks in off on; do
	fresh "$gprof_mt" record -q --set kernel.source=none --set sample.hz=250 --set sample.stacks=$stacks -- ./ratio 100 2 \
		>out || fail "ratio: exit status $?"
	if "$gprof_mt" report --format json flat | jq -e 'any(.functions[]; .samples)' >out; then
		[ $stacks = on ] && check=paths || check=samples
		python3 check.py "$gprof_mt" $check || fail "sample.stacks=$stacks: samples"
	fi
done

# Blocked time: the sum for each thread. Without scheduling events it is all the time in waits, and the calls
# that led to each are known.
"$CC" -std=gnu17 -O1 -g -pthread -fno-omit-frame-pointer -o paths \
	"$GM_TOP/tests/sync/programs/paths.c" || fail "cannot compile paths"
for source in auto none; do
	status=0
	fresh "$gprof_mt" record -q --set sync.paths=0ns --set kernel.source=$source -- ./paths 2>err || status=$?
	[ $status -eq 9 ] || fail "record: exit status $status: $(cat err)"
	python3 check.py "$gprof_mt" off-cpu || fail "off-cpu, $source"
	python3 check.py "$gprof_mt" off-wake || fail "off-wake, $source"
	# The holder's path leads to the release, that of a call to blame to the call.
	python3 check.py "$gprof_mt" blame || fail "blame, $source"
	export_ --what blame -o - >stacks 2>err || fail "blame, $source: $(cat err)"
	for stack in '\[holder\](;[^;]*)*;main;release;pthread_mutex_unlock;mutex' \
		'\[(caller|idle)\](;[^;]*)*;main;give;sem_post;sem' \
		'\[(caller|idle)\](;[^;]*)*;main;announce;pthread_cond_signal;cond'; do
		grep -qE "^$stack [0-9]+\$" stacks || fail "$source: no stack $stack in: $(cat stacks)"
	done
	# The waker of each wait, from the innermost frame outwards.
	export_ --what off-wake --no-threads -o - >stacks 2>err || fail "off-wake, $source: $(cat err)"
	for stack in 'one;take;pthread_mutex_lock;mutex;--;pthread_mutex_unlock;release;main' \
		'other;take;pthread_mutex_lock;mutex;--;pthread_mutex_unlock;release;main' \
		'receive;sem_wait;sem;--;sem_post;give;main' 'await;pthread_cond_wait;cond;--;pthread_cond_signal;announce;main'; do
		grep -qE "(^|;)waits;$stack(;[^;]*)* [0-9]+\$" stacks || fail "$source: no stack $stack in: $(cat stacks)"
	done
	export_ --what off-wake -o - 2>err | grep -qE ';sem_post;give;main(;[^;]*)*;thread 0 paths \(tid [0-9]+, process [0-9]+\) [0-9]+$' ||
		fail "$source: the waker's thread is not the last frame"
done
export_ --what off-cpu -o - --no-threads >stacks 2>err || fail "off-cpu: $(cat err)"
grep -q 'no scheduling events' err || fail "no note about missing scheduling events: $(cat err)"
for stack in 'one;take;pthread_mutex_lock;mutex' 'other;take;pthread_mutex_lock;mutex' \
	'receive;sem_wait;sem' 'await;pthread_cond_wait;cond'; do
	grep -qE "(^|;)waits;$stack [0-9]+\$" stacks || fail "no stack $stack in: $(cat stacks)"
done
exit 0
