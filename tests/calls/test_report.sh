#!/bin/bash
# SPDX-License-Identifier: MIT
# Reports from a history of calls: the same counts as without one, the nested calls, and the number of calls
# that a thread made each time it had a CPU.
. "$GM_TOP/tests/calls/common.sh"
need jq

# same WHAT EXPECTED ACTUAL
same()
{
	[ "$2" = "$3" ] || fail "$1: expected:
$2
got:
$3"
}

for flags in -pg "-pg -mfentry -minstrument-return=call" -finstrument-functions; do
	configure
	# shellcheck disable=SC2086 # the flags are split on purpose
	build_from sequence sequence.c $flags
	fresh ./sequence tree 2 || fail "$flags: exit status $?"
	for log in log.*; do
		want=$(tr -d 'A-Z' <"$log" | fold -w 1 | sort | uniq -c | awk '{ print "f" $2, $1 }')
		got=$("$gprof_mt" report --format json --tid "${log#log.}" flat |
			jq -r '.functions[] | select(.calls != null) | "\(.name) \(.calls)"' | sort)
		same "$flags: counts of $log" "$want" "$got"
		[ "$flags" != -pg ] || continue
		# Entries and returns, in order and with their depth.
		python3 - "$log" >want <<-'END'
		import sys
		depth = 0
		for letter in open(sys.argv[1]).read():
		    if letter.isupper():
		        depth -= 1
		    print(letter, depth)
		    if letter.islower():
		        depth += 1
		END
		"$gprof_mt" history --calls --tid "${log#log.}" --format json | jq -r '.calls[] |
			(.function[1:2] + " " + (.depth | tostring)) as $entry |
			(($entry[0:1] | ascii_upcase) + $entry[1:]) as $exit |
			if .event == "call" then $entry elif .event == "return" then $exit
			else $entry, $exit end' >got || fail "$flags: $log"
		cmp -s want got || fail "$flags: $log: $(diff want got | head)"
	done

	# shellcheck disable=SC2086 # the flags are split on purpose
	build_from nest nest.c $flags
	fresh ./nest >tid || fail "$flags: nest: exit status $?"
	"$gprof_mt" history --calls --tid "$(cat tid)" >text || fail "$flags: nest"
	if [ "$flags" = -pg ]; then
		# Without returns it is unknown in which fa() the others were called.
		sed '1,3d; s/^.\{27\}//' text >got
		cat >want <<-END
		fa
		  fa
		    fc
		      fd
		        fe
		    fb
		      fe
		      fe
		      fc
		        fd
		          fe
		    fc
		      fd
		        fe
		    fb
		      fe
		      fe
		      fc
		        fd
		          fe
		END
		# main() is not on the stack: its last call was the first fa().
		echo fe >>want
	else
		sed '1,3d; s/^.\{27\}//; s/^  *end of/END/; s/^end of/END/' text | grep -v END >got
		cat >want <<-END
		fa
		  fa
		    fc
		      fd
		        fe
		    fb
		      fe
		      fe
		      fc
		        fd
		          fe
		  fc
		    fd
		      fe
		  fb
		    fe
		    fe
		    fc
		      fd
		        fe
		fe
		END
	fi
	cmp -s want got || fail "$flags: nest: $(diff want got) in
$(cat text)"
done

# No history, or an unknown thread: one line.
rm gprof-mt.conf
"$gprof_mt" history --calls --tid 1 2>err && fail "no such thread: exit status 0"
same "no such thread" 1 "$(grep -c 'no thread has tid 1' err)"
"$gprof_mt" history --calls 2>err && fail "--calls alone: exit status 0"
fresh ./nest >tid
"$gprof_mt" history --calls --tid "$(cat tid)" 2>err && fail "no history: exit status 0"
same "no history" 1 "$(grep -c 'no history of calls' err)"

# Activity agrees with the table of threads, with scheduling events or with the reason why there are none.
fresh "$gprof_mt" record -q --set calls.mode=history -- ./sequence tree 3 || fail "record: exit status $?"
"$gprof_mt" report --format json activity threads >json || fail "activity: $(cat json)"
jq -e '[.activity[] | select(.calls > 0)] | length == 3' json >/dev/null || fail "activity: $(cat json)"
jq -e '.threads as $threads | all(.activity[]; . as $row | $threads[] | select(.index == $row.index) |
	.functions_per_activity == $row.functions_per_activity and .calls == $row.calls)' json >/dev/null ||
	fail "activity is not as in threads: $(cat json)"
if jq -e 'any(.notes[]; .section == "activity" and (.note | test("no scheduling events")))' json >/dev/null
then
	jq -e 'all(.activity[]; .activities == null and .functions_per_activity == null)' json >/dev/null ||
		fail "unexpected periods without scheduling events: $(cat json)"
else
	jq -e 'all(.activity[] | select(.calls and .most_per_activity); .most_per_activity <= .calls)' \
		json >/dev/null || fail "the maximum exceeds the sum: $(cat json)"
fi
exit 0
