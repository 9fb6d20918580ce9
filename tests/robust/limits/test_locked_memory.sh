#!/bin/bash
# SPDX-License-Identifier: MIT
#
# In a program that locks its memory (mlockall), the libraries add at most 2500 KiB of locked memory for
# each thread, however much is recorded.  With a small RLIMIT_MEMLOCK the program gets the same results
# as bare, and events without memory are counted as lost.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

unset LD_PRELOAD
PAIRS=1000000
build locked_memory
printf '[sync]\nmode = all\n' >all.conf
./locked_memory $PAIRS >bare 2>bare.kib
[ $? = 7 ] || skip "memory cannot be locked: $(cat bare)"
fresh env GPROF_MT_CONFIG="$PWD/all.conf" LD_PRELOAD="$libsync" ./locked_memory $PAIRS >out 2>kib
status=$?
[ $status = 7 ] || fail "exit status $status: $(cat out kib)"
cmp bare out || fail "expected '$(cat bare)' as in the bare program, found '$(cat out)'"
more=$((($(tail -1 kib) - $(cat bare.kib)) / 2))
echo "locked: $(cat bare.kib) KiB bare, $more KiB more for each of 2 threads"
[ $more -le 2500 ] || fail "expected at most 2500 KiB more for each thread, found $more"
recorded=$("$gprof_mt" report --format json locks | python3 "$GM_TOP/tests/robust/programs/recorded.py")
[ "${recorded##* }" = $((2 * PAIRS)) ] || fail "expected $((2 * PAIRS)) locks, found ${recorded##* }"

# The memory that exists after one lock: the libraries, a writer, the thread table, a file.
./locked_memory now >bare 2>bare.kib
fresh env LD_PRELOAD="$libsync" ./locked_memory now >out 2>kib
cmp bare out || fail "expected '$(cat bare)' as in the bare program, found '$(cat out)'"
needs=$(cat bare.kib) more=$(($(tail -1 kib) - $(cat bare.kib)))
echo "locked at once: $needs KiB bare, $more KiB more"
[ $more -le 1200 ] || fail "locked at once: expected at most 1200 KiB more, found $more"

# Without the privilege to exceed the limit; the library alone takes 1.0 MiB.
command -v setpriv >/dev/null || { echo "no setpriv"; exit 0; }
mkdir open
chmod 777 . open
cp locked_memory open
cd open || exit 1

# limited KIB WHAT COMMAND...: runs COMMAND as another user with that limit, and prints its exit status
limited()
{
	local kib=$1 what=$2
	shift 2
	rm -rf gprof-mt.data
	(ulimit -l "$kib" && setpriv --bounding-set -all --inh-caps -all --reuid 65534 --clear-groups \
		"$@" ./locked_memory "$what" 2>../limit.err)
	echo "status $?"
}

n_limits=0
for kib in 64 6000 7000 8192; do
	(ulimit -l $kib) 2>/dev/null || continue
	for what in 1000 now; do
		bare=$(limited $kib $what env)
		ours=$(limited $kib $what env LD_PRELOAD="$libsync")
		[ "$bare" = "$ours" ] || fail "$what: RLIMIT_MEMLOCK $kib KiB: expected '$bare' as bare, found '$ours': $(cat ../limit.err)"
	done
	n_limits=$((n_limits + 1))
done
kib=$((needs + 1200))
[ "$(limited $kib now env LD_PRELOAD="$libsync")" = "$(limited $kib now env)" ] ||
	fail "RLIMIT_MEMLOCK $kib KiB: enough for the bare program, but not with the library"
echo "$n_limits limits: as bare"
