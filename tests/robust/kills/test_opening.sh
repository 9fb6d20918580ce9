#!/bin/bash
# SPDX-License-Identifier: MIT
# A forced signal interrupts a forked child while it begins its recording.  The handler locks and calls
# functions, or jumps out, or does not return before another thread has had its first event.  No thread
# hangs, with either library or both, with a place that the parent prepared or without.  The children
# end as in the bare program, and events that are not recorded are reported.
. "$GM_TOP/tests/lib.sh"

build opening -w
mv opening bare
build_pg opening -w
printf '[sync]\nmode = all\n' >places.conf
printf '[calls]\nmode = history\n[sync]\nmode = all\n' >folders.conf
runs=0
for how in answer jump stall; do
	./bare $how >expected || skip "no seccomp filter"
	for preload in "$libsync" ""; do
		for program in opening bare; do
			[ $program$preload != bare ] || continue
			for config in places folders; do
				what="$how, $program, ${preload##*/}, $config"
				GPROF_MT_CONFIG=$PWD/$config.conf LD_PRELOAD=$preload fresh timeout 60 ./$program $how >out 2>err ||
					fail "$what: exit status $?: $(tail -n 3 err)"
				cmp -s out expected || fail "$what: expected the output of the bare program, found: $(diff expected out)"
				runs=$((runs + 1))
				"$gprof_mt" report --format json quality >quality.json 2>report.err || fail "$what: $(cat report.err)"
				python3 "$programs/opening.py" "$how" "$(wc -l <expected)" quality.json || fail "$what: section quality differs from the expected losses"
			done
		done
	done
done
echo "$runs runs with 2 children, or 1 that is stopped for seconds"
exit 0
