#!/bin/bash
# SPDX-License-Identifier: MIT
# The native reader and babeltrace2 read the same records of the same files, with the same times and in the
# same order. For damaged files the native reader reports the damage in one line and reads the rest.
. "$GM_TOP/tests/calls/common.sh"
print=$GM_BUILD/tests/ctf/print_calls

# theirs DIR: prints what print_calls prints, from babeltrace2's text
theirs()
{
	babeltrace2 --clock-cycles --no-delta "$1"/*/calls-history | python3 -c '
import re, sys
arcs = {}
for line in sys.stdin:
    found = re.match(r"\[(\d+)\] (?:\(\d+\) )?(\w+): \{ tid = (\d+), index = (\d+) \}, \{ (.*) \}$", line)
    time, event, tid, index, fields = found.groups()
    values = [int(word, 0) for word in re.findall(r"= (0x[0-9A-F]+|\d+)", fields)]
    head = f"{int(time)} {tid} {index}"
    if event == "arc":
        arcs[(index, values[0])] = values[1:]
    elif event == "call":
        print(head, "call %x %x" % tuple(arcs[(index, values[0])]))
    elif event == "return":
        print(head, "return %x" % values[0])'
}

build_from pg sequence.c -pg
build_from exits sequence.c -pg -mfentry -minstrument-return=call
for buffer in 4K 4M; do
	configure "buffer = $buffer"
	for command in "pg tree 2" "exits jump 2"; do
		# shellcheck disable=SC2086 # the words are split on purpose
		fresh ./$command || fail "$command: exit status $?"
		"$print" gprof-mt.data >ours 2>err || fail "$command: $(cat err)"
		theirs gprof-mt.data >theirs
		[ "$(wc -l <ours)" -ge 100 ] || fail "$command: expected at least 100 records, got $(wc -l <ours)"
		# Records of several threads with the same time have no order.
		sort -s -n -k 1,1 -k 3,3 ours >ours.sorted
		sort -s -n -k 1,1 -k 3,3 theirs | cmp - ours.sorted || fail "$command, $buffer: the native reader and babeltrace2 differ"
		sort -c -s -n -k 1,1 ours || fail "$command, $buffer: the records are not in time order"
	done
done

# Damage: files cut anywhere, bytes changed anywhere.
configure "buffer = 4K"
fresh ./exits tree 1
stream=$(find gprof-mt.data -name stream_0_1)
cp "$stream" whole
"$print" gprof-mt.data >ours
size=$(stat -c %s whole)
for cut in 1 71 72 4095 $((size / 2 + 4)) $((size - 8)); do
	head -c "$cut" whole >"$stream"
	"$print" gprof-mt.data >cut 2>err
	[ $? -le 1 ] || fail "cut at $cut: $(cat err)"
	cmp -s cut ours || grep -q 'stream_0_1: .*cut short' err || fail "cut at $cut: the damage is not reported"
done
for seed in $(seq 12); do
	python3 - "$seed" whole "$stream" <<-'END'
	import random, sys
	seed, source, target = int(sys.argv[1]), sys.argv[2], sys.argv[3]
	random.seed(seed)
	data = bytearray(open(source, "rb").read())
	for _ in range(seed):
	    data[random.randrange(len(data)) if seed % 2 else random.randrange(80)] = random.randrange(256)
	open(target, "wb").write(data)
	END
	timeout 60 "$print" gprof-mt.data >out 2>err
	[ $? -le 1 ] || fail "changed, seed $seed: exit status $?: $(cat err)"
done
exit 0
