#!/bin/bash
# SPDX-License-Identifier: MIT
# No disk space, or too little: the program's behavior does not change, its calls are counted, and missing
# records are counted as lost.
. "$GM_TOP/tests/calls/common.sh"

build_from pg sequence.c -pg
configure "buffer = 64K"

# Short files are permitted: the library uses more of them.
fresh bash -c 'ulimit -f 64; ./pg tree 2' || fail "ulimit -f: exit status $?"
records ./pg --compare --no-exits || fail "ulimit -f"

# A disk that becomes full during the run.
configure "buffer = 4K"
mkdir place && printf '[output]\ndir = place/capture\n' >>gprof-mt.conf
[ "$(id -u)" = 0 ] || exit 0
mount -t tmpfs -o size=160k none place 2>/dev/null || { echo "no tmpfs: the remaining checks are skipped"; exit 0; }
trap 'umount -l place' EXIT
fresh ./pg tree 3 || fail "disk fills up: exit status $?"
folder=$(echo place/capture/[0-9]*)
babeltrace2 "$folder/calls-history" 2>err >text || fail "disk fills up: $(cat err)"
recorded=$(grep -c ' call: ' text)
calls=$(cat log.* | tr -d 'A-Z\n' | wc -c)
[ "$recorded" -ge 1000 ] || fail "disk fills up: expected at least 1000 records, got $recorded"
[ "$recorded" -lt "$calls" ] || fail "the disk did not fill up"
[ $((recorded + $(lost "$folder"))) -eq "$calls" ] ||
	fail "$recorded records and $(lost "$folder") lost of $calls calls"
"$GM_BUILD/gprof-mt" report -i place/capture quality >rows || fail "report"
grep -q 'calls and returns not in the history: no room on the disk ' rows || fail "expected the reason 'no room on the disk': $(cat rows)"
exit 0
