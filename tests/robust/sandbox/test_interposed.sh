#!/bin/bash
# SPDX-License-Identifier: MIT
# A program interposes functions of libc that lock, allocate and call -pg code.  The libraries do not
# call them where this could lead back into the libraries: there is no recursion, the functions are
# called as often as in the bare program, and a thread has one stream.  The same for libfaketime.
. "$GM_TOP/tests/lib.sh"

build interposed -rdynamic
expected=$(./interposed 3 2000) || fail "bare: exit status $?"
build_pg interposed -rdynamic
printf '[calls]\nmode = history\n' >history.conf
printf "" >count.conf
# A call path for each lock, also for those that the interposed functions take before main.
printf '[sync]\npaths = 0ns\npath_sample = 1\n' >paths.conf
rounds=0
for round in 1 2 3; do
	for config in count.conf history.conf paths.conf; do
		for preload in "" "$libsync"; do
			got=$(GPROF_MT_CONFIG=$PWD/$config LD_PRELOAD=$preload fresh \
				timeout -s KILL 60 ./interposed 3 2000) ||
				fail "round $round, $config, ${preload##*/}: exit status $?"
			[ "$got" = "$expected" ] || fail "$config ${preload##*/}: expected '$expected', found '$got'"
			streams=$(find gprof-mt.data -path '*/user/stream_*' | wc -l)
			[ "$streams" -le 8 ] || fail "$config: expected at most 8 streams of 4 threads, found $streams"
			rounds=$((rounds + 1))
		done
	done
done
echo "$rounds runs with interposed functions: $expected"

faketime=$(find /usr/lib -name 'libfaketimeMT.so.1' 2>/dev/null | head -n 1)
[ -n "$faketime" ] || { echo "libfaketime is not installed"; exit 0; }
build interposed -DNO_OWN
export FAKETIME='@2001-02-03 04:05:06 x1' FAKETIME_DONT_RESET=1
for round in 1 2 3; do
	LD_PRELOAD="$libsync $faketime" fresh timeout 60 ./interposed 3 2000 >out 2>&1 ||
		fail "libfaketime: exit status $?: $(tail -n 3 out)"
	streams=$(find gprof-mt.data -path '*/user/stream_*' | wc -l)
	if [ "$streams" -gt 4 ] || [ "$streams" -eq 0 ]; then
		fail "libfaketime: expected 1 to 4 streams, found $streams"
	fi
done
echo "3 runs under libfaketime: $streams stream files"
exit 0
