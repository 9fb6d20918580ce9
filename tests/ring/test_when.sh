#!/bin/bash
# SPDX-License-Identifier: MIT
#
# record --when: the snapshot that a provoked wait, hold or call leads to contains it, with its holder and its release,
# each time.  GM_WHEN_TRIALS sets the number of trials.
# shellcheck source=tests/ring/common.sh
. "$GM_TOP/tests/ring/common.sh"

need jq
build ring_waits
unset GPROF_MT_CONFIG LD_PRELOAD
mkfifo input
trials=${GM_WHEN_TRIALS:-2}

# watch CONDITION OPTION...: records the program with that condition.
watch()
{
	local condition=$1
	shift
	fresh :
	rm -rf gprof-mt.data.snapshot.*
	"$gprof_mt" record --ring 4M --set sync.mode=all --set kernel.source=none --when "$condition" "$@" -- \
		./ring_waits 1 <input >out 2>err &
	record=$!
	exec 3>input
	until_true 60 grep -q ready out || fail "the program does not get ready: $(cat err)"
}
obey()
{
	: >out
	echo "$1 $2" >&3
	until_true 60 grep -q "$1" out || fail "the program does not answer '$1'"
}
end()
{
	exec 3>&-
	wait $record || fail "record: exit status $?: $(cat err)"
}

# longest FILTER: prints the longest time in the snapshot by a filter of jq.
longest()
{
	"$gprof_mt" report -i gprof-mt.data.snapshot.1 --format json locks io quality >report.json 2>report.err ||
		fail "report: exit status $?: $(cat report.err)"
	jq "[$1] | max // 0" report.json
}
taken()
{
	until_true 60 test -d gprof-mt.data.snapshot.1 || fail "no snapshot of '$1': $(cat err)"
	until_true 60 grep -qF "($1: " err || fail "expected a line with '$1', found: $(cat err)"
}

# On a busy machine, a wait of 10 ms may take 50 ms: then it is tried again, and at last left out.
begin_waits()
{
	for _ in 1 2 3; do
		watch 'wait > 50ms'
		obey wait 10000000
		[ "$(cut -d' ' -f2 out)" -ge 45000000 ] || return 0
		end
	done
	watch 'wait > 50ms'
}

for trial in $(seq "$trials"); do
	# A shorter one leads to none.
	begin_waits
	obey wait 80000000
	taken 'wait > 50ms'
	[ "$(longest '.locks[] | select(.name == "gate") | .sites[].holders[] | select(.site | test("^hold ")) | .wait_max_ns')" -ge 80000000 ] ||
		fail "trial $trial: expected the wait of 80 ms and its holder: $(jq -c .locks report.json)"
	[ "$(longest '.locks[] | select(.name == "gate") | .hold_max_ns')" -ge 80000000 ] ||
		fail "trial $trial: expected the hold, up to its release: $(jq -c .locks report.json)"
	[ "$(jq -c .quality report.json)" = '[]' ] || fail "expected no problems, found $(jq -c .quality report.json)"
	end
	[ ! -d gprof-mt.data.snapshot.2 ] || fail "two snapshots of one wait: $(cat err)"

	watch 'hold of kept > 20ms' --when 'call of nanosleep > 30ms'
	obey hold 40000000
	taken 'hold of kept > 20ms'
	[ "$(longest '.locks[] | select(.name == "kept") | .hold_max_ns')" -ge 40000000 ] ||
		fail "trial $trial: expected the hold of 40 ms: $(jq -c .locks report.json)"
	obey call 50000000
	until_true 60 test -d gprof-mt.data.snapshot.2 || fail "no snapshot of the call: $(cat err)"
	end
done

# One wait leads to one snapshot, however long it goes on: also when it has begun before that, and has still to end.
watch 'wait > 50ms'
obey wait 2600000000
taken 'wait > 50ms'
end
[ ! -d gprof-mt.data.snapshot.2 ] || fail "several snapshots of one wait: $(cat err)"

# Two waits for the same hold: one snapshot at a time, one more at most.
watch 'wait > 50ms'
obey pair 1300000000
taken 'wait > 50ms'
end
[ ! -d gprof-mt.data.snapshot.3 ] || fail "more than one further snapshot of two waits: $(cat err)"

# A call that returns just before the end: either a snapshot, if record looked before the end, or a line that says that
# the capture has it.  A wait that the end interrupts has no other end.
watch 'call of nanosleep > 30ms'
echo 'call 60000000' >&3
end
grep -qE '(\(|at the end \()call of nanosleep > 30ms: ' err || fail "a call just before the end was missed: $(cat err)"
grep -qF -e 'never true' -e 'there was no' err && fail "contradictory lines: $(cat err)"
watch 'wait of gate > 50ms'
echo 'leave 80000000' >&3
end
grep -qE '(\(|at the end \()wait of gate > 50ms: ' err || fail "a wait up to the end was missed: $(cat err)"

# A thread that does not run: main() reads its input.
watch 'stall of ring_waits > 200ms'
taken 'stall of ring_waits > 200ms'
end

# Objects that were never there are named at the end.
watch 'wait of gat > 1ms' --when 'hold of kept > 10s'
obey wait 5000000
end
grep -qF "gprof-mt: --when 'wait of gat > 1ms': there was no object 'gat'" err || fail "expected a line on gat: $(cat err)"
[ "$(ls -d gprof-mt.data.snapshot.* 2>/dev/null)" = '' ] || fail "a snapshot without a reason"

# Bad input: one line each, and the program does not run.
for bad in '' wait 'wait >' 'wait > 50' 'wait > 0ms' 'wait > 2h' 'weight > 1s' 'wait of > 1s' '> 1s' 'wait > 50 ms ms'; do
	fails 2 "invalid --when '$bad' (expected a condition as" record --when "$bad" -- touch ran
done
fails 2 '--when needs a command' record --pid $$ --when 'wait > 1s'
[ ! -e ran ] || fail "the program ran in spite of a bad condition"
exit 0
