#!/bin/bash
# SPDX-License-Identifier: MIT
# A program has functions of its own in place of libc's, which lock, allocate and call -pg code: the
# libraries call none of them where that could lead back into them, so there is no recursion, the
# functions are called as often as without us, and a thread has one stream.  Then libfaketime.
. "$GM_TOP/tests/lib.sh"

build interposed -rdynamic
expected=$(./interposed 3 2000) || fail "bare: exit status $?"
build_pg interposed -rdynamic
printf '[calls]\nmode = history\n' >history.conf
printf "" >count.conf
rounds=0
for round in 1 2 3; do
	for config in count.conf history.conf; do
		for preload in "" "$libsync"; do
			got=$(GPROF_MT_CONFIG=$PWD/$config LD_PRELOAD=$preload fresh \
				timeout 60 ./interposed 3 2000) ||
				fail "round $round, $config, ${preload##*/}: exit status $?"
			[ "$got" = "$expected" ] || fail "$config ${preload##*/}: $got, not $expected"
			streams=$(find gprof-mt.data -path '*/user/stream_*' | wc -l)
			[ "$streams" -le 8 ] || fail "$config: $streams stream files of 4 threads"
			rounds=$((rounds + 1))
		done
	done
done
echo "$rounds runs with functions of the program's own: $expected"

faketime=$(find /usr/lib -name 'libfaketimeMT.so.1' 2>/dev/null | head -n 1)
[ -n "$faketime" ] || { echo "libfaketime is not installed"; exit 0; }
build interposed -DNO_OWN
export FAKETIME='@2001-02-03 04:05:06 x1' FAKETIME_DONT_RESET=1
for round in 1 2 3; do
	LD_PRELOAD="$libsync $faketime" fresh timeout 60 ./interposed 3 2000 >out 2>&1 ||
		fail "libfaketime: exit status $?: $(tail -n 3 out)"
	streams=$(find gprof-mt.data -path '*/user/stream_*' | wc -l)
	if [ "$streams" -gt 4 ] || [ "$streams" -eq 0 ]; then
		fail "libfaketime: $streams stream files"
	fi
done
echo "3 runs under libfaketime: $streams stream files"
exit 0
