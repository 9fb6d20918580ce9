#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Small limits (setrlimit): a program with both libraries prints and returns what it does bare, and
# what is not in the capture is told, on stderr or in the report's section `quality`.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need prlimit
unset GPROF_MT_CONFIG LD_PRELOAD
build limited
mv limited bare
# The archive: ld.so needs a descriptor of its own for a library, which is not ours to save.
build limited -pg "$GM_BUILD/libgmon_mt.a"

# recorded: calls of `leaf` and locks in the capture; 0 0 without one
recorded()
{
	{
		"$gprof_mt" report --format json flat
		"$gprof_mt" report --format json locks
	} 2>>report.err | python3 "$programs/recorded.py"
}

n_runs=0 n_whole=0
for limit in --fsize={4096,20000,70000,100000,200000} --nofile={4,5,6,7,8,16} \
	--as={40,50,60,70,80,100,200}000000 --data={8,10,20,40}000000 --stack={65536,131072} \
	--nproc={1,2,3,4} --sigpending=0 --memlock=0 --rttime=1000000 --core=0 --msgqueue=0; do
	prlimit "$limit" ./bare >bare.out 2>bare.err
	bare=$?
	fresh timeout 30 prlimit "$limit" env LD_PRELOAD="$libsync" ./limited >out 2>err
	ours=$?
	n_runs=$((n_runs + 1))
	[ $ours = $bare ] || fail "$limit: exit status $ours, bare $bare: $(cat err)"
	cmp bare.out out || fail "$limit: $(diff bare.out out)"
	! grep -v '^gprof-mt: ' err || fail "$limit: this is not ours to say"
	: >report.err
	has=$(recorded)
	if [ "$has" = "5000 5000" ]; then
		n_whole=$((n_whole + 1))
		continue
	fi
	"$gprof_mt" report --section quality >quality.txt 2>>report.err
	[ -s err ] || grep -qi lost quality.txt || fail "$limit: $has recorded of 5000 5000, and nobody says so"
	echo "$limit: $has of 5000 5000: $(head -n 1 err)$(grep -i lost quality.txt | head -n 1)"
done
echo "$n_runs runs as bare, $n_whole recorded whole"
[ "$n_whole" -ge 10 ] || fail "nearly nothing was recorded"
