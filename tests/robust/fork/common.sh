# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Functions for the tests of what readers do with the files of children of fork.
. "$GM_TOP/tests/lib.sh"

# reads_damaged ROUNDS CAPTURE SECTION...: a reader of the capture neither crashes nor hangs after random bytes of its
# files of children were overwritten
reads_damaged()
{
	local rounds=$1 capture=$2 seed status
	shift 2
	for ((seed = 0; seed < rounds; seed++)); do
		rm -rf gprof-mt.data
		cp -a "$capture" gprof-mt.data
		python3 "$programs/damage.py" $seed || fail "seed $seed: cannot damage the capture"
		timeout 60 "$gprof_mt" report "$@" >out 2>err
		status=$?
		[ $status -le 1 ] || fail "seed $seed: exit status $status: $(head -3 err)"
	done
	echo "$rounds damaged captures read"
}
