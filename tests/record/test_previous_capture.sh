#!/bin/bash
# SPDX-License-Identifier: MIT
# The capture before the previous one is deleted when the program has ended, not while it starts. However
# record ends, at most one capture that it moved aside remains, until the next recording.
. "$GM_TOP/tests/lib.sh"

# recorded SCRIPT: records it; exit status 0 and no message.
recorded()
{
	"$gprof_mt" record -q --set kernel.source=none sh -c "$1" >out 2>err || fail "status $?: $(cat err)"
	[ ! -s err ] || fail "unexpected message: $(cat err)"
}

aside()
{
	find . -maxdepth 1 -name '.gprof-mt.data.discarded.*'
}

# In a folder whose files may have any name.
recorded 'mkdir gprof-mt.data/index && echo 1 >gprof-mt.data/index/mark'
recorded 'mkdir gprof-mt.data/index && echo 2 >gprof-mt.data/index/mark'
recorded 'mkdir gprof-mt.data/index && echo 3 >gprof-mt.data/index/mark
	cat gprof-mt.data.old/index/mark .gprof-mt.data.discarded.*/index/mark'
[ "$(xargs <out)" = "2 1" ] || fail "while the program runs: $(cat out)"
[ "$(cat gprof-mt.data/index/mark gprof-mt.data.old/index/mark | xargs)" = "3 2" ] || fail "not kept: $(ls -A)"
[ -z "$(aside)" ] || fail "not deleted: $(aside)"

# A directory that is no capture is never deleted.
mv gprof-mt.data.old kept && mkdir gprof-mt.data.old && echo precious >gprof-mt.data.old/file
"$gprof_mt" record -q true >out 2>err
[ $? = 1 ] || fail "over a directory that is no capture: $(cat err)"
[ "$(cat gprof-mt.data.old/file)" = precious ] && [ "$(cat gprof-mt.data/index/mark)" = 3 ] ||
	fail "changed a directory that is no capture"
rm -r gprof-mt.data.old && mv kept gprof-mt.data.old

# A signal ends the program: sent by the terminal to both processes, or only to record.
for signal in INT TERM; do
	setsid "$gprof_mt" record -q --set kernel.source=none sh -c 'echo $$ >started; exec sleep 600' \
		>out 2>err &
	record=$!
	until_true 60 test -s started || fail "not started: $(cat err)"
	[ -n "$(aside)" ] || fail "SIG$signal: expected a capture that is moved aside"
	if [ $signal = INT ]; then
		# A shell ignores SIGINT in the background, and so do its children.
		kill -INT -$record
		kill -TERM "$(cat started)"
	else
		kill -TERM $record
	fi
	wait $record
	[ -z "$(aside)" ] || fail "SIG$signal: not deleted: $(aside)"
	[ -e gprof-mt.data.old/session ] || fail "SIG$signal: no old capture"
	rm started
done

# While one record runs, another is refused and changes nothing; a killed one leaves one directory.
"$gprof_mt" record -q --set kernel.source=none sh -c 'echo $$ >started; exec sleep 600' >out 2>err &
record=$!
until_true 60 test -s started || fail "not started: $(cat err)"
before=$(aside)
[ -n "$before" ] || fail "expected a capture that is moved aside"
"$gprof_mt" record -q true >out2 2>err2
[ $? = 1 ] && grep -q 'is still being written to' err2 || fail "not refused: $(cat err2)"
[ -e gprof-mt.data.old/session ] || fail "the refused record removed gprof-mt.data.old"
[ "$(aside)" = "$before" ] || fail "the refused record changed $before to $(aside)"
kill -KILL $record
wait $record 2>/dev/null
kill "$(cat started)"
[ "$(aside)" = "$before" ] || fail "killed: $(aside)"
recorded true
[ -z "$(aside)" ] || fail "the next record did not delete it: $(aside)"

# The number in the name is that of another process now, as after a restart of a container.
cp -a gprof-mt.data.old .gprof-mt.data.discarded.$$
recorded true
[ -z "$(aside)" ] || fail "a running process has its number, and record did not delete it: $(aside)"

# The record that runs has its number in another PID namespace.
container=(unshare --fork --pid --mount-proc --kill-child)
if "${container[@]}" true 2>/dev/null; then
	rm -f started
	# shellcheck disable=SC2016 # for the shells
	"${container[@]}" sh -c '"$@"; exit' sh \
		"$gprof_mt" record -q --set kernel.source=none sh -c 'echo $$ >started; exec sleep 600' &
	record=$!
	until_true 60 test -s started || fail "not started in a PID namespace"
	before=$(aside)
	[ -n "$before" ] || fail "expected a capture that is moved aside"
	unshare --fork --pid --mount-proc "$gprof_mt" record -q true 2>err2 && fail "not refused"
	[ "$(aside)" = "$before" ] || fail "in another PID namespace: the refused one changed $before to $(aside)"
	kill -KILL $record
	wait $record 2>/dev/null
fi
exit 0
