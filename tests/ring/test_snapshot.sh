#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A snapshot of a running recording is a capture that all readers take: by `gprof-mt snapshot`, of a process or a
# capture, by SIGUSR2 to record, after record was killed.  It ends at its instant, and neither disturbs the program nor
# the recording.
# shellcheck source=tests/ring/common.sh
. "$GM_TOP/tests/ring/common.sh"

need jq babeltrace2 python3
build ring_waits
unset GPROF_MT_CONFIG LD_PRELOAD
mkfifo input

# start OPTION...: records the program, and waits until it is ready.  Sets record and program.
start()
{
	fresh :
	rm -rf gprof-mt.data.snapshot.* ./*.snap
	"$gprof_mt" record --ring 4M --set sync.mode=all "$@" -- ./ring_waits 2 <input >out 2>err &
	record=$!
	exec 3>input
	until_true 60 grep -q ready out || fail "the program does not get ready: $(cat err)"
	program=$(pgrep -P $record -x ring_waits)
}

# obey COMMAND NS: lets the program execute a command.
obey()
{
	: >out
	echo "$1 $2" >&3
	until_true 60 grep -q "$1" out || fail "the program does not answer '$1'"
}

# has_wait CAPTURE: fails unless it has a wait of 5 ms for `gate`, with its holder and release.
has_wait()
{
	local found
	"$gprof_mt" report -i "$1" --format json locks quality >report.json 2>report.err ||
		fail "$1: report: exit status $?: $(cat report.err)"
	found=$(jq -r '[.locks[] | select(.name == "gate") | .sites[].holders[] | select(.wait_ns >= 5000000) | .site][0]' \
		report.json)
	[[ $found == 'hold (ring_waits.c:'* ]] || fail "$1: expected the wait for gate, and its holder, found $found"
	[ "$(jq '[.locks[] | select(.name == "gate") | .hold_max_ns] | max' report.json)" -ge 5000000 ] ||
		fail "$1: expected the whole hold of gate: $(jq -c '.locks' report.json)"
	[ "$(problems report.json)" = '[]' ] || fail "$1: expected no problems, found $(problems report.json)"
}

for source in none auto; do
	start --set kernel.source=$source
	obey wait 6000000
	"$gprof_mt" snapshot -o first.snap "$program" >line 2>&1 || fail "snapshot: exit status $?: $(cat line)"
	[ "$(wc -l <line)" = 1 ] && grep -q '^first.snap: a snapshot, taken .* s after the start (gprof-mt snapshot)' line ||
		fail "expected one line, found: $(cat line)"
	has_wait first.snap
	babeltrace2 first.snap >/dev/null 2>bt.err || fail "babeltrace2: $(cat bt.err)"
	[ ! -s bt.err ] || fail "babeltrace2 warns: $(cat bt.err)"
	first_ns=$(info "snapshot time_ns" first.snap)
	"$gprof_mt" report -i first.snap summary threads critical-path blame >report.txt 2>&1 ||
		fail "report of the snapshot: exit status $?: $(cat report.txt)"
	"$gprof_mt" history -i first.snap --format json >history.json 2>/dev/null || fail "history: exit status $?"

	# By name and default name; the next number if there is one.
	for n in 1 2; do
		"$gprof_mt" snapshot >line 2>&1 || fail "snapshot: exit status $?: $(cat line)"
		[ -d gprof-mt.data.snapshot.$n ] || fail "expected gprof-mt.data.snapshot.$n, found: $(cat line)"
	done
	[ "$(info "snapshot time_ns" gprof-mt.data.snapshot.1)" -gt "$first_ns" ] || fail "expected a later instant"
	fails 1 'File exists' snapshot -o first.snap
	fails 1 'is inside the capture gprof-mt.data; choose another directory (-o)' snapshot -o gprof-mt.data/inside
	(cd gprof-mt.data && fails 1 'is inside the capture .; choose another directory (-o)' snapshot .) || exit 1

	# On a signal.
	obey wait 6000000
	kill -USR2 $record
	until_true 60 test -d gprof-mt.data.snapshot.3 || fail "no snapshot after SIGUSR2: $(cat err)"
	has_wait gprof-mt.data.snapshot.3
	until_true 60 grep -q 'gprof-mt.data.snapshot.3: a snapshot, taken .*(SIGUSR2)' err ||
		fail "expected a line of record, found: $(cat err)"

	# One that is asked for just before the end is written, too.
	kill -USR2 $record
	exec 3>&-
	wait $record || fail "record: exit status $?: $(cat err)"
	[ -d gprof-mt.data.snapshot.4 ] || fail "no snapshot of the last moment: $(cat err)"
	"$gprof_mt" report -i gprof-mt.data.snapshot.4 quality >/dev/null 2>&1 || fail "the last snapshot is damaged"
	[ -z "$(find . -maxdepth 1 -name '.*snapshot*')" ] || fail "left over: $(find . -maxdepth 1 -name '.*snapshot*')"
done

# After record was killed, the program goes on, and so do snapshots; after the program was killed there are none.
start --set kernel.source=none
kill -9 $record
wait $record 2>/dev/null
obey wait 6000000
"$gprof_mt" snapshot -o killed.snap >line 2>&1 || fail "snapshot without record: exit status $?: $(cat line)"
has_wait killed.snap
kill -9 "$program"
exec 3>&-
until_true 60 eval "! kill -0 $program 2>/dev/null" || fail "the program does not end"
fails 1 'no program is being recorded into it any more' snapshot

# Bad input.
fails 1 'no capture nowhere' snapshot nowhere
fails 1 'is not recorded; start it with' snapshot $$
fails 2 "unexpected argument 'b'" snapshot a b
"$gprof_mt" record -o ended --set kernel.source=none -- true >/dev/null 2>&1
fails 1 'no program is being recorded into it any more' snapshot ended
fails 1 'no program is being recorded into it any more' snapshot killed.snap
mkdir full
if mount -t tmpfs -o size=16k none full 2>/dev/null; then
	trap 'umount full' EXIT
	start --set kernel.source=none
	fails 1 'No space left on device' snapshot -o full/one
	[ -z "$(ls -A full)" ] || fail "a snapshot without room left a part: $(ls -A full)"
	exec 3>&-
	wait $record || fail "record: exit status $?: $(cat err)"
fi
exit 0
