#!/bin/bash
# SPDX-License-Identifier: MIT
# The program behaves as without record: input, output, exit status, signals; and it continues if record is
# killed.
. "$GM_TOP/tests/lib.sh"
record=("$gprof_mt" record -q)

# Exit status, streams and arguments; arguments belong to the program even if they look like options.
"${record[@]}" sh -c 'exit 7'
[ $? = 7 ] || fail "exit status"
printf 'in\0put' | "${record[@]}" -- cat >out 2>err || fail "cat"
printf 'in\0put' | cmp - out || fail "stdin or stdout differ"
"${record[@]}" sh -c 'echo "$@"; echo to-err >&2' sh -q --set x -- -o y >out 2>err
[ "$(cat out)" = "-q --set x -- -o y" ] || fail "arguments: $(cat out)"
[ "$(cat err)" = to-err ] || fail "stderr: $(cat err)"
[ "$(info exit_status)" = 0 ] && [ "$(info complete)" = true ] || fail "$(cat gprof-mt.data/info.json)"
[ "$(info command)" = '["sh", "-c", "echo \"$@\"; echo to-err >&2", "sh", "-q", "--set", "x", "--", "-o", "y"]' ] ||
	fail "$(info command)"

# rusage is at least what the program itself finds just before its end.
"${record[@]}" python3 -c '
import json, resource
sum(range(3000000))
usage = resource.getrusage(resource.RUSAGE_SELF)
json.dump([usage.ru_utime + usage.ru_stime, usage.ru_maxrss, usage.ru_minflt, usage.ru_nvcsw + usage.ru_nivcsw],
          open("own.json", "w"))' || fail "python3"
python3 - <<'END' || fail "rusage: $(cat gprof-mt.data/info.json)"
import json
info = json.load(open("gprof-mt.data/info.json"))
usage, (cpu, rss, faults, switches) = info["rusage"], json.load(open("own.json"))
wall = (info["end_ns"] - info["start_ns"]) / 1e9
assert cpu - 1e-3 <= (usage["user_ns"] + usage["system_ns"]) / 1e9 <= 64 * wall, (usage, cpu, wall)
assert rss * 1024 <= usage["max_rss_bytes"] and faults <= usage["minor_faults"], (usage, rss, faults)
assert switches <= usage["voluntary"] + usage["involuntary"], (usage, switches)
END

# Signal dispositions and mask are those of the caller. Signal 33, which glibc keeps for itself, has a handler of ours
# for samples, also if the caller ignores it.
cat >state.sh <<'END'
while read -r name bits; do
	case $name in
	SigBlk:) echo "$name $bits" ;;
	SigIgn:) printf '%s %x\n' "$name" $((0x$bits & ~(1 << 32))) ;;
	esac
done </proc/self/status
END
sh state.sh >plain
"${record[@]}" sh state.sh >recorded
cmp plain recorded || fail "signal state differs: $(diff plain recorded)"
(trap '' INT; exec sh state.sh) >plain
(trap '' INT; exec "${record[@]}" sh state.sh) >recorded
cmp plain recorded || fail "an ignored signal is not ignored by the program: $(diff plain recorded)"

# Death by a signal: the same signal ends record, and the shell sees it.
for signal in SEGV TERM KILL; do
	"${record[@]}" sh -c "kill -$signal \$\$" 2>/dev/null
	status=$?
	[ $status = $((128 + $(kill -l $signal))) ] || fail "$signal: status $status"
	[ "$(info signal)" = "$(kill -l $signal)" ] || fail "$signal: $(info signal)"
done
python3 - "${record[@]}" <<'END' || fail "not ended by the signal itself"
import signal, subprocess, sys
done = subprocess.run(sys.argv[1:] + ["sh", "-c", "kill -TERM $$"])
sys.exit(done.returncode != -signal.SIGTERM)
END

# SIGTERM to record is passed to the program, which may handle it.
cat >term.sh <<'END'
trap 'echo got it; exit 9' TERM
echo ready
while :; do sleep 0.05; done
END
"${record[@]}" sh term.sh >out &
until_true 60 grep -q ready out || fail "not started"
kill -TERM $!
wait $!
status=$?
[ $status = 9 ] && grep -q 'got it' out || fail "TERM was not passed on: $status $(cat out)"

# SIGINT from a terminal goes to the whole process group: record lets the program decide.
cat >int.sh <<'END'
trap 'echo got it; exit 8' INT
echo ready
while :; do sleep 0.05; done
END
python3 - "${record[@]}" <<'END' || fail "INT: $(info exit_status)"
import os, signal, subprocess, sys
run = subprocess.Popen(sys.argv[1:] + ["sh", "int.sh"], stdout=subprocess.PIPE, text=True,
                       start_new_session=True)
assert run.stdout.readline() == "ready\n"
os.killpg(run.pid, signal.SIGINT)
rest = run.stdout.read()
sys.exit(not (run.wait() == 8 and rest == "got it\n"))
END
[ "$(info exit_status)" = 8 ] && [ "$(info complete)" = true ] || fail "capture not finished"

# The terminal's stop signal (^Z) stops both as one job, and the shell can continue it.
cat >stop.sh <<'END'
echo ready
read line
exit 6
END
python3 - "${record[@]}" <<'END' || fail "stopped and continued: $(info exit_status)"
import os, signal, subprocess, sys
run = subprocess.Popen(sys.argv[1:] + ["sh", "stop.sh"], stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE, process_group=0)
assert run.stdout.readline() == b"ready\n"
os.killpg(run.pid, signal.SIGTSTP)
pid, status = os.waitpid(run.pid, os.WUNTRACED)
assert os.WIFSTOPPED(status), status
os.killpg(run.pid, signal.SIGCONT)
run.stdin.write(b"go\n")
run.stdin.close()
sys.exit(run.wait() != 6)
END

# If record is killed, the program continues, and the capture is marked as incomplete.
cat >go-on.sh <<'END'
echo $$ ready
read line
echo went on
END
mkfifo gate
rm out # contains the previous program's "ready"
"${record[@]}" sh go-on.sh <gate >out &
exec 9>gate
until_true 60 grep -qs ready out || fail "not started"
kill -KILL $!
wait $! 2>/dev/null
echo >&9
until_true 60 grep -q 'went on' out || fail "the program ended with record"
exec 9>&-
[ "$(info complete)" = false ] || fail "expected an incomplete capture"

# A program that runs record itself: each record has its own capture. (The libraries of the outer record
# precede the runtime of a sanitized inner one, which must be set to accept this.)
ASAN_OPTIONS=verify_asan_link_order=0 "${record[@]}" -o outer "${record[@]}" -o inner sh -c 'exit 3'
[ $? = 3 ] || fail "record under record"
[ "$(info exit_status outer)" = 3 ] && [ "$(info command inner)" = '["sh", "-c", "exit 3"]' ] ||
	fail "outer: $(cat outer/info.json) inner: $(cat inner/info.json)"
