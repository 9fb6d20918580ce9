#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Many children of fork, most of which do little: each lock and call of each child is in the report,
# with each library alone and with both, with and without record.  Most children record into a place
# that their parent prepared (gmon-mt/children.h) and have no files of their own while they run.
. "$GM_TOP/tests/lib.sh"

children=${CHILDREN:-160}

"$CC" -g -O1 -fPIC -shared -pthread -o loaded.so "$programs/fork_loaded.c" || fail "cannot compile"
build_pg fork_many
mv fork_many fork_many_pg
build fork_many
./fork_many "$children" >bare || fail "bare: exit status $?: $(cat bare)"
locks=$(awk '$1 == "locks" && NF == 2 { print $2 }' bare | tail -1)
# The constructor of loaded.so takes its lock outside of child_work().
calls=$((locks - $(awk '$1 == "dlopen" { print $2 }' bare)))

# sum TABLE KEY VALUE: the calls of the rows whose KEY is VALUE, and the number of their processes
sum()
{
	python3 - "$@" <<'PY'
import json, sys
table, key, value = sys.argv[1:]
rows = [r for r in json.load(open("report.json"))[table] if r[key] == value and r["calls"]]
print(sum(r["calls"] for r in rows), len({(r["pid"], r["image"]) for r in rows}))
PY
}

# report WHAT SECTION TABLE KEY VALUE EXPECTED
report()
{
	local got
	"$gprof_mt" report --format json "$2" >report.json || fail "$1: report $2"
	got=$(sum "$3" "$4" "$5")
	echo "$1: $5: ${got% *} of $6, in ${got#* } processes"
	[ "${got% *}" = "$6" ] || fail "$1: $5: expected $6 calls, found ${got% *}"
}

# run WHAT COMMAND...: the output is that of the bare program, and the capture has no problems
run()
{
	local what=$1
	shift
	fresh "$@" >out 2>err || fail "$what: exit status $?: $(cat out err)"
	cmp -s bare out || fail "$what: the output differs from the bare program's: $(diff bare out)"
	[ ! -s err ] || fail "$what: expected nothing on stderr, found: $(head -3 err)"
	"$gprof_mt" report --format json quality >quality.json || fail "$what: report quality"
	python3 - <<'PY' || fail "$what: expected an empty section quality"
import json, sys
# If several programs are recorded at once, a wake-up by a task of another program may be missed.
missed = "ended a sleep without a recorded wake-up"
bad = [p for p in json.load(open("quality.json"))["quality"] if p.get("count") and p["what"] != missed]
print(*bad[:5], sep="\n")
sys.exit(bool(bad))
PY
}

run sync env LD_PRELOAD="$libsync" ./fork_many "$children"
[ -z "$(find gprof-mt.data -name 'children.*')" ] || fail "a file of places (children.*) is left after all children have ended"
report sync sync sync function pthread_mutex_lock "$locks"
events=$(babeltrace2 gprof-mt.data 2>babeltrace.err | grep -c ' mutex_lock:')
echo "sync: babeltrace2: $events of $locks"
[ "$events" = "$locks" ] || fail "babeltrace2: expected $locks locks, found $events: $(head -3 babeltrace.err)"

run calls ./fork_many_pg "$children"
report calls flat functions name child_work "$calls"
run both env LD_PRELOAD="$libsync" ./fork_many_pg "$children"
report both sync sync function pthread_mutex_lock "$locks"
report both flat functions name child_work "$calls"
run record "$gprof_mt" record -q -- ./fork_many_pg "$children"
report record sync sync function pthread_mutex_lock "$locks"
report record flat functions name child_work "$calls"
exit 0
