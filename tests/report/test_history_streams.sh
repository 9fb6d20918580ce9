#!/bin/bash
# SPDX-License-Identifier: MIT
# `history` prints while it reads, in memory that does not depend on the capture's size, and ends at once on a
# signal and when its output is closed. The operations are the same in both orders.
. "$GM_TOP/tests/lib.sh"
need python3

"$CC" -O2 -g -o objects "$programs/objects.c" -pthread || fail "cannot compile"
small=100000 large=1000000 counts_bytes=1
# A sanitizer reads more than a small capture has.
! with_sanitizers || small=2000 large=60000 counts_bytes=0
for n in $small $large; do
	"$gprof_mt" record -q -o "$n" --set kernel.source=none --set sync.mode=all -- ./objects 10 "$n" ||
		fail "record"
done
python3 "$programs/history/streams.py" "$gprof_mt" $small $large $counts_bytes || fail "see above"

for options in "" "--format csv" "--format json" "--order object"; do
	# shellcheck disable=SC2086 # several words
	of_small=$(peak /dev/null history -i $small $options)
	! with_sanitizers || continue
	of_large=$(peak /dev/null history -i $large $options)
	echo "history $options: $((of_small >> 10)) KiB for $((2 * small)) operations, $((of_large >> 10)) KiB for $((2 * large))"
	[ "$of_large" -lt $((of_small + (4 << 20))) ] || fail "history $options: memory depends on the size of the capture"
done

# With SIGPIPE ignored, the closed output is an error, and ends the reading.
(
	trap '' PIPE
	"$gprof_mt" history -i $large 2>err
	echo $? >status
) | head -n 1 >first
same "exit status without SIGPIPE" 1 "$(cat status)"
same "message" "gprof-mt: standard output: Broken pipe" "$(cat err)"

fails 2 "invalid --order 'size' (expected time or object)" history -i $small --order size
fails 2 "--calls, --order: exclude each other" history -i $small --calls --tid 1 --order time

# A limit on the size of files is like a full disk.
(
	ulimit -f $((large / 1000))
	trap '' XFSZ
	"$gprof_mt" history -i $large --format json 2>err
) >out && fail "json: no error without disk space"
grep -q "temporary file in .*: File too large; set TMPDIR" err || fail "$(cat err)"
