#!/bin/bash
# SPDX-License-Identifier: MIT
# Lost events are counted and reported, and do not affect the program: a ring that overflows, a full disk.
. "$GM_TOP/tests/lib.sh"
can_trace || skip "perf tracepoints are not permitted here"
build pingpong -O2

# Stops the collector while the program makes more records than the rings hold.
rounds=60000
mkfifo gate
held()
{
	local source=$1
	rm -rf gprof-mt.data gprof-mt.data.old out err
	"$gprof_mt" record -q --set kernel.source=$source ./pingpong $rounds wait <gate >out 2>err &
	record=$!
	exec 9>gate
	until_true 60 grep -qs ready out || fail "not started: $(cat err)"
	is_stopped()
	{
		[ "$(sed 's/.*) //' /proc/$record/stat | cut -c 1)" = T ]
	}
	kill -STOP $record
	until_true 60 is_stopped || fail "record is not stopped"
	echo >&9
	both_done()
	{
		[ "$(grep -c '^thread' out)" = 2 ]
	}
	until_true 120 both_done || fail "the program waits for record"
	kill -CONT $record
	wait $record
	[ $? = 3 ] || fail "exit status; $(cat err)"
	lost=$(info 'kernel lost_events' | tr -d '[],' | awk '{ for (i = 1; i <= NF; i++) n += $i } END { print n }')
	[ "$lost" -gt 0 ] || fail "expected lost events: $(info kernel)"
	grep -q "^gprof-mt: $lost scheduling records .*lost: rings full" err || fail "no message with the number of lost records: $(cat err)"
	[ "$(info losses | grep -o '"count": [0-9]*' | awk '{ n += $2 } END { print n }')" = "$lost" ] ||
		fail "losses: $(info losses)"
	babeltrace2 gprof-mt.data/kernel >events 2>bt.err || fail "babeltrace2: $(cat bt.err)"
	discarded=$(sed -n 's/.*discarded \([0-9]*\) event.*/\1/p' bt.err | awk '{ n += $1 } END { print n + 0 }')
	[ "$discarded" = "$lost" ] || fail "$discarded discarded events in the streams, $lost in info.json"
	counted=$(awk '$1 == "thread" { n += $4 + $6 } END { print n }' out)
	traced=$(grep -c 'sched_switch: .*prev_comm = "pingpong"' events)
	[ $traced -lt "$counted" ] && [ $((traced + lost)) -ge "$counted" ] ||
		fail "$traced switches traced, $lost records lost, of $counted switches"
	exec 9>&-
}
held perf
if has_bpf; then
	held bpf
fi

# A full disk.
[ "$(id -u)" = 0 ] || exit 0
cat >full.sh <<'END'
mount -t tmpfs -o size=$1 none disk || skip "cannot mount a tmpfs"
shift
"$@" >out 2>err
status=$?
babeltrace2 disk/data >events 2>bt.err || cat bt.err >bad
cp disk/data/info.json .
exit $status
END
mkdir disk
unshare -m true 2>/dev/null || skip "no private mounts: the full disk is not tested"
unshare -m sh full.sh 600k "$gprof_mt" record -q -o disk/data --set calls.mode=off \
	--set sync.mode=off ./pingpong 30000
status=$?
[ $status != 77 ] || skip "no tmpfs: the full disk is not tested"
[ $status = 3 ] || fail "full disk: status $status; $(cat err)"
[ "$(grep -c '^thread' out)" = 2 ] || fail "full disk: the program's output: $(cat out)"
[ ! -e bad ] || fail "full disk: unreadable: $(cat bad)"
grep -qE '^gprof-mt: .*disk/data/kernel: No space left on device: [0-9]+ scheduling events lost' err ||
	fail "full disk: no message: $(cat err)"
[ "$(info complete .)" = true ] && [ "$(info exit_status .)" = 3 ] || fail "full disk: $(cat info.json)"
traced=$(grep -c 'sched_switch: .*prev_comm = "pingpong"' events)
counted=$(awk '$1 == "thread" { n += $4 + $6 } END { print n }' out)
unwritten=$(info 'kernel unwritten_events' .)
[ $((traced + unwritten)) -ge "$counted" ] && [ "$unwritten" -gt 0 ] ||
	fail "full disk: expected $counted switches, got $traced and $unwritten unwritten"
