#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Strangers who ask `record` for something without end do not keep it: it ends with its program.
. "$GM_TOP/tests/lib.sh"

build flood
strangers=4 most=4000 # of each, after the program's end; what waits is some hundred

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
	wait "$pid" || fail "a stranger was let $most times after the program's end"
done
refused=$("$gprof_mt" report --format json quality | python3 -c 'import json, sys
print(sum(row.get("count", 0) for row in json.load(sys.stdin)["quality"] if "refused" in row["what"]))')
echo "refused: $refused"
[ "$refused" -ge $strangers ] || fail "strangers are not counted"
exit 0
