#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The first event of a child of fork comes from a child of vfork(), which runs in its memory with another
# process number.  The events are recorded with the number of the child of fork, with each library alone,
# with both, and under record.
. "$GM_TOP/tests/lib.sh"

build_pg fork_vfork
mv fork_vfork fork_vfork_pg
build fork_vfork

# check WHAT SECTION KEY VALUE: compares the counts of each process with the numbers in the file `out`
check()
{
	"$gprof_mt" report --format json threads "$2" >report.json || fail "$1: report"
	python3 - "$@" <<'PY' || fail "$1: wrong numbers"
import collections, json, sys
what, section, key, value = sys.argv[1:]
parent, child = map(int, open("out").read().split())
report = json.load(open("report.json"))
table = "functions" if section == "flat" else section
counts = collections.Counter()
for row in report[table]:
    if row[key] == value:
        counts[row["pid"]] += row["calls"]
threads = sorted((row["pid"], row["tid"]) for row in report["threads"])
expected = {parent: 1, child: 2}
print(f"{what}: {value} {dict(counts)}, threads {threads}")
sys.exit(counts != expected or threads != sorted([(parent, parent), (child, child)]))
PY
}

for how in fork _Fork; do
	fresh env LD_PRELOAD="$libsync" ./fork_vfork $how >out || fail "sync, $how: exit status $?"
	check "sync, $how" sync function pthread_mutex_lock
	fresh ./fork_vfork_pg $how >out || fail "calls, $how: exit status $?"
	check "calls, $how" flat name work
	fresh env LD_PRELOAD="$libsync" ./fork_vfork_pg $how >out || fail "both, $how: exit status $?"
	check "both, $how" sync function pthread_mutex_lock
	check "both, $how" flat name work
	fresh "$gprof_mt" record -q --set kernel.source=none --set sync.mode=all -- ./fork_vfork_pg $how >out ||
		fail "record, $how: exit status $?"
	check "record, $how" sync function pthread_mutex_lock
	check "record, $how" flat name work
done
exit 0
