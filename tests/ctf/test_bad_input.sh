#!/bin/bash
# SPDX-License-Identifier: MIT
# A report that is impossible or incomplete prints one line that names the file and the remedy, and its exit
# status tells so. The output is never half a document.
. "$GM_TOP/tests/lib.sh"
fail_shows err
export LC_ALL=C
# In a sanitized build this names the leaks that tests/lsan.supp lists.
export ASAN_OPTIONS=fast_unwind_on_malloc=0
make=$GM_BUILD/tests/ctf/make_capture

# report STATUS REGEX ARG...: checks the exit status, and for one line on stderr that matches the regex.
report()
{
	local status=$1 regex=$2 got
	shift 2
	"$GM_BUILD/gprof-mt" report "$@" >out 2>err
	got=$?
	[ $got = "$status" ] || fail "report $*: expected status $status, got $got"
	[ "$(wc -l <err)" = 1 ] || fail "report $*: expected one line on stderr"
	grep -qE -e "$regex" err || fail "report $*: expected '$regex' on stderr, got: $(cat err)"
}

nothing() { [ ! -s out ] || fail "output, too"; }

"$make" good 3 300 || exit 1

report 1 "no capture gprof-mt.data: .*gprof-mt record" && nothing
report 1 "no capture elsewhere: " -i elsewhere && nothing
mkdir empty
report 1 "empty is not a capture: .*session" -i empty && nothing
report 1 "out is not a capture: not a directory" -i out && nothing
report 2 "no section 'nonsense'; the sections are summary, .*, locks, .*--help" nonsense && nothing
report 2 "no section 'good'; to read the capture in that directory, add -i before its name" good && nothing
report 2 "invalid --format 'yaml' \(expected text, json or csv\)" --format yaml && nothing
report 2 "--tid x: not a thread id" --tid x && nothing
report 2 "needs a value" -i && nothing
report 2 "no option --nonsense" --nonsense && nothing
report 1 "no thread has tid 4; see .gprof-mt report threads" -i good --tid 4 flat && nothing

copy() { rm -rf copy && cp -r good copy; }

copy && sed -i '1s/1/2/' copy/session
report 1 "copy/session: schema 2 is newer than 1, .*or a newer one" -i copy && nothing
copy && : >copy/session
report 1 "copy/session: empty.*record again" -i copy && nothing
copy && rm -r copy/1000 copy/kernel
report 1 "copy is an empty capture: .*gcc -pg" -i copy && nothing
copy && truncate -s 100 copy/1000/threads
report 1 "copy/1000/threads: cut short: 100 of [0-9]+ bytes" -i copy && nothing
copy && : >copy/1000/threads
report 1 "copy/1000/threads: cut short" -i copy && nothing

# A damaged capture gives a complete report of the readable part, and a message about the damage.
copy && truncate -s -20 copy/1000/user/stream_1
report 1 "copy/1000/user/stream_1: .*cut short.*covers only the packets before" -i copy --format json sync
jq -e '.sync | length > 0' out >/dev/null || fail "no report of the rest: $(cat out)"
copy && truncate -s 3 copy/kernel/channel0_0
report 1 "copy/kernel/channel0_0: .*cut short" -i copy summary
copy && printf '\0' | dd of=copy/1000/user/stream_0 bs=1 seek=0 conv=notrunc 2>dd.err
report 1 "copy/1000/user/stream_0: damaged" -i copy --format json sync quality
jq -e '[.sync[].tid] | unique | length == 2' out >/dev/null || fail "the other two threads: $(cat out)"
jq -e '.quality | length > 0' out >/dev/null || fail "nothing in quality"
copy && : >copy/kernel/metadata
report 1 "copy/kernel: left out" -i copy summary

# The other commands print the message too, once.
copy && truncate -s -20 copy/1000/user/stream_1
for command in "history" "graph --kind switch"; do
	# shellcheck disable=SC2086 # the words are split on purpose
	"$GM_BUILD/gprof-mt" $command -i copy >out 2>err
	[ $? = 1 ] || fail "$command of a damaged capture: expected status 1"
	[ -s out ] || fail "$command of a damaged capture: no output of the readable part"
	[ "$(wc -l <err)" = 1 ] || fail "$command: expected one line on stderr"
	grep -q "stream_1: .*cut short" err || fail "$command: the damage is not reported: $(cat err)"
done

# Data that was lost differs from data that never was.
nothing_else() { jq -e '.sync | length > 0' out >/dev/null || fail "no report of the rest: $(cat out)"; }

copy && rm copy/1000/user/stream_1
report 1 "copy/1000/user/stream_1: missing; the report covers the others" -i copy --format json sync
nothing_else
copy && cp copy/1000/user/stream_1 copy/1000/user/stream_1_2
report 1 "copy/1000/user/stream_1_1: missing" -i copy sync
copy && rm copy/1000/user/stream_1 && mkfifo copy/1000/user/stream_1
report 1 "copy/1000/user/stream_1: not a regular file: left out" -i copy --format json sync
nothing_else
copy && rm copy/kernel/channel0_0 && mkdir copy/kernel/channel0_0
report 1 "copy/kernel/channel0_0: not a regular file" -i copy threads
events=$(babeltrace2 good/kernel | wc -l)
[ "$events" -gt 1 ] || fail "no kernel events"
copy && echo "{\"kernel\": {\"events\": $events}}" >copy/info.json
"$GM_BUILD/gprof-mt" report -i copy quality >out 2>err || fail "the report claims that events are missing"
copy && echo "{\"kernel\": {\"events\": $((events + 5))}}" >copy/info.json
report 1 "copy/kernel: 5 of the $((events + 5)) scheduling events .* missing" -i copy threads
rm -r copy/kernel
report 1 "copy/kernel: $((events + 5)) of the $((events + 5)) scheduling events" -i copy --format json sync
nothing_else
grep -q "no scheduling events in this capture" out || fail "blocked: no message about the missing scheduling events"

# JSON nested deeper than a parser's stack, and a file that only looks shallow.
for trick in '' '/* " */'; do
	copy && { printf '{"a": %s' "$trick"; head -c 1000000 /dev/zero | tr '\0' '['; } >copy/info.json
	report 1 "copy/info.json: invalid JSON" -i copy --format json sync
	nothing_else
done

# Symlinks are followed within the capture, and not out of it.
copy && mv copy/1000/maps copy/maps && ln -s ../maps copy/1000/maps
"$GM_BUILD/gprof-mt" report -i copy quality >out 2>err || fail "a symlink inside the capture: $(cat err)"
outside=$PWD/good
copy && ln -sf "$outside/session" copy/session && report 1 "copy is not a capture" -i copy && nothing
copy && ln -s "$outside/session" copy/info.json
report 1 "copy/info.json: left out: a symlink that leads out of the capture" -i copy --format json sync
nothing_else
copy && cp -r copy/1000 copy/1001 && ln -sf "$outside/1000/maps" copy/1001/maps
report 1 "1001: process left out: copy/1001/maps: a symlink that leads out" -i copy --format json sync
nothing_else
copy && ln -s "$outside/1000" copy/1001
report 1 "1001: process left out: copy/1001: a symlink that leads out" -i copy --format json sync
nothing_else
copy && ln -sf "$outside/1000/user/stream_1" copy/1000/user/stream_1
report 1 "copy/1000/user: left out: a symlink leads out of the capture" -i copy --format json sync
jq -e '.sync == []' out >/dev/null || fail "followed: $(cat out)"
copy && rm -r copy/kernel && ln -s "$outside/kernel" copy/kernel
report 1 "copy/kernel: left out: a symlink leads out" -i copy --format json sync
nothing_else

# Names from the capture are shown without control characters, which would drive the terminal.
copy && : >"$(printf 'copy/1000/user/a\033[31m\302\233\n')" && ln -s stream_0 "$(printf 'copy/1000/user/\033[2J')" &&
	mkdir "$(printf 'copy/1000/user/\033[3J')"
printf '11 load 400000 402000 400000 - /nonesuch/\033]0;x\007\302\233y\n' >copy/1000/maps
printf '\033[1mx' | dd of=copy/1000/threads bs=1 seek=$(($(grep -abo worker copy/1000/threads | sed 's/:.*//;q'))) conv=notrunc 2>dd.err
for command in "report" "report flat callgraph paths switches critical-path activity quality" history \
	"timeline --tid 1000" "graph --kind switch"; do
	# shellcheck disable=SC2086 # the words are split on purpose
	"$GM_BUILD/gprof-mt" $command -i copy >out 2>err
	! LC_ALL=C.UTF-8 grep -qP '[\x{0}-\x{8}\x{b}-\x{1f}\x{7f}-\x{9f}]' out err ||
		fail "$command: control characters: $(cat -v out err)"
done

# The clock of another boot has another origin.
copy && sed -i 's/\(clock {.* uuid = "\)./\1f/' copy/kernel/metadata
report 1 "copy/kernel: left out: recorded after another boot" -i copy --format json threads
jq -e '.threads | all(.running_ns == null)' out >/dev/null || fail "another boot's times: $(cat out)"

# Output that cannot be written: a full disk, a reader that closed the pipe.
"$GM_BUILD/gprof-mt" report -i good summary >/dev/full 2>err
[ $? = 1 ] || fail "a full disk: expected status 1"
grep -q "standard output: No space left" err || fail "a full disk is not named"
for command in doctor --help --version "report --help"; do
	# shellcheck disable=SC2086 # the words are split on purpose
	"$GM_BUILD/gprof-mt" $command >/dev/full 2>err
	[ $? = 1 ] || fail "$command: a full disk: expected status 1"
	grep -q "standard output: No space left" err || fail "$command: a full disk is not named"
done
# Empty streams are no damage: the threads did nothing.
copy && : >copy/1000/user/stream_2
"$GM_BUILD/gprof-mt" report -i copy quality >out 2>err || fail "an empty stream"
[ ! -s err ] || fail "an empty stream : unexpected message: $(cat err)"
