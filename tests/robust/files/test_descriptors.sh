#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The libraries open no descriptor in the program's table: a thread that closes descriptor 0 and opens a
# file gets descriptor 0, also while other threads are recorded, and the file is not modified.
#
# GM_TRIES: the number of tries in all parts (default 600,000; the goal was no error in 10 million).
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
	[ ! -s err.txt ] || fail "$name: expected nothing on stderr, found: $(head -n 3 err.txt)"
}

check bare ./descriptors "$tries"
for file in '' "$own"; do
	check "libgmon-mt${file:+, with a file}" ./descriptors.pg "$tries" ${file:+"$file"}
	check "libsync-trace${file:+, with a file}" env LD_PRELOAD="$libsync" ./descriptors "$tries" ${file:+"$file"}
	check "both${file:+, with a file}" env LD_PRELOAD="$libsync" ./descriptors.pg "$tries" ${file:+"$file"}
done
# For a process of another user, `record` opens the files and passes their descriptors.
if [ "$(id -u)" = 0 ]; then
	check "record, without rights" "$gprof_mt" record -q -o gprof-mt.data --set sync.mode=all \
		--set kernel.source=none -- ./descriptors $((tries / 10)) - 65534
	lost=$("$gprof_mt" report -i gprof-mt.data --format json quality |
		python3 -c 'import json, sys; print(len(json.load(sys.stdin)["quality"]))')
	[ "$lost" = 0 ] || fail "record, as another user: expected an empty section quality: $("$gprof_mt" report -i gprof-mt.data quality)"
fi
echo "[calls]
mode = history
[sync]
mode = contended" >gprof-mt.conf
check "history and contended" env LD_PRELOAD="$libsync" ./descriptors.pg "$tries" "$own"
