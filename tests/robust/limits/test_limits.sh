#!/bin/bash
# SPDX-License-Identifier: MIT
#
# With small limits (setrlimit), a program with both libraries has the output and exit status of the
# bare program, and events that are not in the capture are reported on stderr or in section `quality`.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need prlimit
unset GPROF_MT_CONFIG LD_PRELOAD
build limited
mv limited bare
# The static library, because ld.so needs a descriptor to load a shared one.
build limited -pg "$GM_BUILD/libgmon_mt.a"

# recorded: the calls of `leaf` and the locks in the capture; 0 0 without a capture
recorded()
{
	{
		"$gprof_mt" report --format json flat
		"$gprof_mt" report --format json locks
	} 2>>report.err | python3 "$GM_TOP/tests/robust/programs/recorded.py"
}

n_runs=0 n_whole=0
for limit in --fsize={4096,20000,70000,100000,200000} --nofile={4,5,6,7,8,16} \
	--as={40,50,60,70,80,100,200}000000 --data={8,10,20,40}000000 --stack={65536,131072} \
	--nproc={1,2,3,4} --sigpending=0 --memlock=0 --rttime=1000000 --core=0 --msgqueue=0; do
	prlimit "$limit" ./bare >bare.out 2>bare.err
	bare=$?
	fresh timeout 60 prlimit "$limit" env LD_PRELOAD="$libsync" ./limited >out 2>err
	ours=$?
	n_runs=$((n_runs + 1))
	[ $ours = $bare ] || fail "$limit: expected exit status $bare, found $ours: $(cat err)"
	cmp bare.out out || fail "$limit: the output differs from the bare program's: $(diff bare.out out)"
	! grep -v '^gprof-mt: ' err || fail "$limit: expected only messages of gprof-mt on stderr"
	: >report.err
	has=$(recorded)
	if [ "$has" = "5000 5000" ]; then
		n_whole=$((n_whole + 1))
		continue
	fi
	"$gprof_mt" report --section quality >quality.txt 2>>report.err
	[ -s err ] || grep -qi lost quality.txt || fail "$limit: $has of 5000 5000 recorded, without a message or row"
	echo "$limit: $has of 5000 5000: $(head -n 1 err)$(grep -i lost quality.txt | head -n 1)"
done
echo "$n_runs runs as bare, $n_whole recorded completely"
[ "$n_whole" -ge 10 ] || fail "expected at least 10 complete captures, found $n_whole"
