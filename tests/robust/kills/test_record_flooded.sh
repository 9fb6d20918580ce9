#!/bin/bash
# SPDX-License-Identifier: MIT
#
# `record` ends with its program even if processes that do not belong to the recording send it requests without end.
# A program without access to its capture can record through `record` even if such processes hold more connections than
# `record` serves at a time, and send nothing on them.
. "$GM_TOP/tests/lib.sh"

build flood
strangers=4 most=4000 # connections of each after the program's end; the backlog holds some hundred

mkfifo first
pids=()
exec 3<>first
for ((i = 0; i < strangers; i++)); do
	./flood "$PWD/gprof-mt.data" "$PWD/over" $most >first &
	pids+=($!)
done
# shellcheck disable=SC2016 # for the program
timeout 120 "$gprof_mt" record -q --set kernel.source=none -- sh -c \
	'for i in 1 2 3 4; do read -r word <&3; done; : >over' >out 2>err || fail "record: $(cat err)"
for pid in "${pids[@]}"; do
	wait "$pid" || fail "record accepted $most connections of a stranger after the program's end"
done
refused=$("$gprof_mt" report --format json quality | python3 -c 'import json, sys
print(sum(row.get("count", 0) for row in json.load(sys.stdin)["quality"] if "refused" in row["what"]))')
echo "refused: $refused"
[ "$refused" -ge $strangers ] || fail "expected at least $strangers refused requests in section quality, found $refused"
[ "$(id -u)" = 0 ] || exit 0
build robust/drop
threads=40 children=40
mkfifo silent
for silent in 256 600; do
	rm -rf gprof-mt.data
	./flood "$PWD/gprof-mt.data" silent $silent >silent &
	stranger=$!
	exec 4<>silent
	# shellcheck disable=SC2016 # for the program
	timeout 120 "$gprof_mt" record -q --set kernel.source=none --set sync.mode=all -- sh -c \
		'read -r word <&4; exec ./drop setuid $0 $1' $threads $children 4<silent >out 2>err
	[ $? -eq 5 ] || fail "$silent silent connections: expected exit status 5: $(cat err)"
	wait $stranger || fail "$silent silent connections: flood: exit status $?"
	read -r made <&4
	exec 4<&-
	locks=$(python3 "$GM_TOP/tests/robust/programs/locks.py" gprof-mt.data) || fail "$silent silent connections: a stream cannot be read"
	lost=$("$gprof_mt" report --format json quality | python3 -c 'import json, sys
print(sum(row["count"] for row in json.load(sys.stdin)["quality"] if " not recorded" in row["what"] or " not written" in row["what"]))')
	echo "$silent silent connections, $made made: $locks locks of $((10 + 7 * (threads + children)))"
	[ "$locks" -ge $((10 + 7 * (threads + children))) ] && [ "$lost" = 0 ] ||
		fail "$silent silent connections: locks are missing or lost: $("$gprof_mt" report quality)"
done
exit 0
