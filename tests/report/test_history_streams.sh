#!/bin/bash
# SPDX-License-Identifier: MIT
# `history` prints while it reads, in memory that does not depend on the capture's size, and ends at once on a
# signal and when its output is closed. The operations are the same in both orders.
. "$GM_TOP/tests/lib.sh"
need python3
# With sanitizers, two million operations take more than the time of a test; unit/test_sorter runs there.
[[ $GM_BUILD == */build ]] || skip "runs only in the plain build"

"$CC" -O2 -g -o objects "$programs/objects.c" -pthread || fail "cannot compile"
for n in 100000 1000000; do
	"$gprof_mt" record -q -o "$n" --set kernel.source=none --set sync.mode=all -- ./objects 10 "$n" ||
		fail "record"
done
python3 "$programs/history/streams.py" "$gprof_mt" 100000 1000000 || fail "see above"

for options in "" "--format csv" "--format json" "--order object"; do
	# shellcheck disable=SC2086 # several words
	small=$(peak /dev/null history -i 100000 $options) large=$(peak /dev/null history -i 1000000 $options)
	echo "history $options: $((small >> 10)) KiB for 200,000 operations, $((large >> 10)) KiB for 2,000,000"
	[ "$large" -lt $((small + (4 << 20))) ] || fail "history $options: memory depends on the size of the capture"
done

# With SIGPIPE ignored, the closed output is an error, and ends the reading.
(
	trap '' PIPE
	"$gprof_mt" history -i 1000000 2>err
	echo $? >status
) | head -n 1 >first
same "exit status without SIGPIPE" 1 "$(cat status)"
same "message" "gprof-mt: standard output: Broken pipe" "$(cat err)"

fails 2 "invalid --order 'size' (expected time or object)" history -i 100000 --order size
fails 2 "--calls, --order: exclude each other" history -i 100000 --calls --tid 1 --order time

# A limit on the size of files is like a full disk.
(
	ulimit -f 1000
	trap '' XFSZ
	"$gprof_mt" history -i 1000000 --format json 2>err
) >out && fail "json: no error without disk space"
grep -q "temporary file in .*: File too large; set TMPDIR" err || fail "$(cat err)"
