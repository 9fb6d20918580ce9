#!/bin/bash
# SPDX-License-Identifier: MIT
#
# No descriptor of ours appears in the program's table: a thread that closes descriptor 0 and opens
# a file gets number 0 whatever other threads do, and the file stays as the program leaves it.
#
# GM_TRIES: how often, over all parts (default 600,000; the goal was none wrong in 10 million).
. "$GM_TOP/tests/lib.sh"

tries=$((${GM_TRIES:-600000} / 6))
own=$(mktemp -p /dev/shm) || own=own.data
trap 'rm -f "$own"' EXIT
build descriptors
build_pg descriptors -o descriptors.pg

# check NAME COMMAND...
check()
{
	local name=$1
	shift
	fresh "$@" >out.txt 2>err.txt || fail "$name: status $?: $(cat out.txt) $(tail -n 3 err.txt)"
	echo "$name: $(cat out.txt)"
	[ ! -s err.txt ] || fail "$name: $(head -n 3 err.txt)"
}

check bare ./descriptors "$tries"
for file in '' "$own"; do
	check "libgmon-mt${file:+, with a file}" ./descriptors.pg "$tries" ${file:+"$file"}
	check "libsync-trace${file:+, with a file}" env LD_PRELOAD="$libsync" ./descriptors "$tries" ${file:+"$file"}
	check "both${file:+, with a file}" env LD_PRELOAD="$libsync" ./descriptors.pg "$tries" ${file:+"$file"}
done
# With another user's rights: `record` opens the files, and passes their descriptors.
if [ "$(id -u)" = 0 ]; then
	check "record, without rights" "$gprof_mt" record -q -o gprof-mt.data --set sync.mode=all \
		--set kernel.source=none -- ./descriptors $((tries / 10)) - 65534
	lost=$("$gprof_mt" report -i gprof-mt.data --format json quality |
		python3 -c 'import json, sys; print(len(json.load(sys.stdin)["quality"]))')
	[ "$lost" = 0 ] || fail "without rights: $("$gprof_mt" report -i gprof-mt.data quality)"
fi
echo "[calls]
mode = history
[sync]
mode = contended" >gprof-mt.conf
check "history and contended" env LD_PRELOAD="$libsync" ./descriptors.pg "$tries" "$own"
