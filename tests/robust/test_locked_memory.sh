#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A program that locks its memory (mlockall) has no more than 2 MiB more of it locked for each
# thread, however much is recorded; with a small RLIMIT_MEMLOCK it gets what the bare one does, and
# what finds no memory is counted as lost.
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
cmp bare out || fail "other output"
more=$((($(tail -1 kib) - $(cat bare.kib)) / 2))
echo "locked: $(cat bare.kib) KiB bare, $more KiB more for each of 2 threads"
[ $more -le 2500 ] || fail "$more KiB more for each thread"
recorded=$("$gprof_mt" report --format json locks | python3 "$programs/recorded.py")
[ "${recorded##* }" = $((2 * PAIRS)) ] || fail "$recorded of $((2 * PAIRS)) locks"

# What there is already: the libraries, a writer, the thread table, a file.
./locked_memory now >bare 2>bare.kib
fresh env LD_PRELOAD="$libsync" ./locked_memory now >out 2>kib
cmp bare out || fail "other output"
needs=$(cat bare.kib) more=$(($(tail -1 kib) - $(cat bare.kib)))
echo "locked at once: $needs KiB bare, $more KiB more"
[ $more -le 1000 ] || fail "$more KiB more locked at once"

# Without the privilege to lock more than the limit; the library itself takes 0.9 MiB.
command -v setpriv >/dev/null || { echo "no setpriv"; exit 0; }
mkdir open
chmod 777 . open
cp locked_memory open
cd open || exit 1

# limited KIB WHAT COMMAND...: as another user with that limit; prints its exit status, too.
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
		[ "$bare" = "$ours" ] || fail "$what: RLIMIT_MEMLOCK $kib KiB: bare $bare, now $ours: $(cat ../limit.err)"
	done
	n_limits=$((n_limits + 1))
done
kib=$((needs + 1000))
[ "$(limited $kib now env LD_PRELOAD="$libsync")" = "$(limited $kib now env)" ] ||
	fail "RLIMIT_MEMLOCK $kib KiB is enough bare, and not now"
echo "$n_limits limits: as bare"
