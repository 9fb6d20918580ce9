#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that has no /proc, as in many chroots, is recorded with its names.
. "$GM_TOP/tests/lib.sh"
need unshare
[ "$(id -u)" = 0 ] || skip "needs root privileges, to hide /proc"
unshare --mount true 2>/dev/null || skip "no private mounts here"
build few_locks

# without_proc COMMAND...
without_proc()
{
	unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"
}

# check: the capture is whole, and has the variable's name
check()
{
	"$gprof_mt" report --format json quality locks >report.json 2>err || fail "$1: $(cat err)"
	[ ! -s err ] || fail "$1: $(cat err)"
	python3 -c '
import json
report = json.load(open("report.json"))
assert not report["quality"], report["quality"]
locks = [(lock["name"], lock["acquired"]) for lock in report["locks"]]
assert locks == [("few", 10)], locks' || fail "$1"
}

for name in "$PWD/few_locks" ./few_locks; do
	rm -rf gprof-mt.data
	LD_PRELOAD=$libsync without_proc "$name" >out 2>err
	[ $? = 5 ] || fail "$name: $(cat out err)"
	[ ! -s err ] || fail "$name: $(cat err)"
	check "$name"
done
