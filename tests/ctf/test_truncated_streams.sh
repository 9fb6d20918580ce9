#!/bin/bash
# SPDX-License-Identifier: MIT
# A stream that was cut between two packets, or whose last file is missing, is well-formed; reports still say
# that data is missing. Nothing is missing from a killed program.
. "$GM_TOP/tests/calls/common.sh"
[ -x "$gprof_mt" ] || skip "gprof-mt is not built"

# quality_of STATUS NAME: reports on gprof-mt.data, to `rows` and `err`
quality_of()
{
	"$gprof_mt" report quality >rows 2>err
	[ $? = "$1" ] || fail "$2: expected exit status $1: $(cat err)"
}

# boundaries FILE: prints the offsets between its packets
boundaries()
{
	python3 - "$1" <<-'END'
	import struct, sys
	data, at = open(sys.argv[1], "rb").read(), 0
	while at + 72 <= len(data) and data[at:at + 4] == b"\xc1\x1f\xfc\xc1":
	    at += struct.unpack_from("<Q", data, at + 40)[0] // 8
	    if at < len(data):
	        print(at)
	END
}

build_from killed killed.c -pg
configure "buffer = 4K"
fresh ./killed 9000 >/dev/null
quality_of 0 "killed"
grep -q 'nothing lost' rows || fail "killed: $(cat rows)"
build_from exits sequence.c -pg -mfentry -minstrument-return=call
fresh ./exits tree 3 || fail "exit status $?"
quality_of 0 "whole"
grep -q 'nothing lost' rows || fail "whole: $(cat rows)"
folder=$(echo gprof-mt.data/[0-9]*/calls-history)
cuts=0
for file in "$folder"/stream_*; do
	cp "$file" whole
	for at in $(boundaries whole | sed -n '1p;2p;$p' | sort -un); do
		head -c "$at" whole >"$file"
		quality_of 1 "$file cut at $at"
		grep -q "${file##*/}: cut short between two packets" err || fail "cut at $at: $(cat err)"
		cuts=$((cuts + 1))
	done
	cp whole "$file"
done
[ $cuts -ge 4 ] || fail "expected at least 4 packet boundaries, got $cuts"
for last in "$folder"/stream_*_*; do
	mv "$last" away
	quality_of 1 "without $last"
	grep -q "${last##*/}: missing" err || fail "without $last: $(cat err)"
	mv away "$last"
done
quality_of 0 "whole again"
exit 0
