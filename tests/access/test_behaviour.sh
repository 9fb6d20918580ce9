#!/bin/bash
# SPDX-License-Identifier: MIT
# A program linked with libaccess_trace does what it does without -fsanitize=thread: its output, errno, status, what
# handlers and jumps do, whatever is recorded. Losses are those of handlers and jumps only.
. "$GM_TOP/tests/access/common.sh"

for compiler in $(compilers); do
	bare behaviour "$compiler"
	# shellcheck disable=SC2046 # several flags
	instrumented behaviour "$compiler" $(reads "$compiler")
	timeout 60 ./behaviour.bare >expected
	[ $? = 7 ] || fail "bare: $(cat expected)"
	for settings in sync.mode=all sync.mode=auto sync.mode=contended sync.mode=off 'sync.mode=all --set output.max=1M' \
		'sync.mode=all --set sync.paths=0s'; do
		rm -rf d
		# shellcheck disable=SC2086 # several options
		timeout 120 "$gprof_mt" record -q -o d --set kernel.source=none --set $settings ./behaviour >got 2>err
		[ $? = 7 ] || fail "$compiler, $settings: $(cat got err)"
		same "$compiler, $settings" "$(cat expected)" "$(cat got)"
		"$gprof_mt" report -i d quality >quality || fail "$compiler, $settings: report: $(cat quality)"
		! grep -qi 'damage' quality || fail "$compiler, $settings: $(cat quality)"
		case $settings in
		sync.mode=all)
			for trace in d/[0-9]*/accesses; do
				babeltrace2 -c sink.utils.counter "$trace" >counts 2>err && [ ! -s err ] || fail "$trace: $(cat err)"
				grep -q '[1-9].* Event messages' counts || fail "no segments with $settings: $(cat counts)"
			done ;;
		*output.max*)
			grep -Eq 'threads without accesses in critical sections|accesses in critical sections not recorded' quality ||
				fail "$settings: no line about it: $(cat quality)" ;;
		sync.mode=contended)
			grep -q 'threads without accesses in critical sections, since only their waits' quality ||
				fail "$settings: no line about it: $(cat quality)"
			[ ! -e "$(echo d/[0-9]*/accesses)" ] || fail "$settings: accesses were recorded" ;;
		esac
	done
	# On its own, without record.
	rm -rf gprof-mt.data
	timeout 120 ./behaviour >got 2>err
	[ $? = 7 ] || fail "$compiler, without record: $(cat got err)"
	same "$compiler, without record" "$(cat expected)" "$(cat got)"
done

# A jump out of a handler in the middle of an access leaves the rest of the segment, which is inexact; segments after it
# are exact again.
record_all d ./behaviour >got
python3 - <<'END' || fail "see above"
import glob, os, sys
sys.path.insert(0, os.environ["GM_TOP"] + "/tests/access")
from segments import segments_of

parent, = (trace for trace in glob.glob("d/[0-9]*/accesses") if len(glob.glob(trace + "/stream_*")) > 1)
segments = segments_of(parent)
assert any(segment.flags & 2 for segment in segments), "no segment with memory that was unmapped"
# the sections with the jumps, in main at exit(), and in the destructor
jumps, last, late = segments[-3:]
assert jumps.reads > 100 and (jumps.flags & 1) == (jumps.left_out > 0), [vars(segment) for segment in segments[-4:]]
for segment in (last, late):
    assert 1 <= segment.reads == segment.writes <= 2 and segment.flags == 0, vars(segment)
END
