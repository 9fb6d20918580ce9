#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Handlers of pthread_atfork() that another library registers before ours take locks and call
# functions in the parent and in the child.  Each operation and call is recorded exactly once, for
# children of fork(), _Fork(), clone(), vfork() and posix_spawn(), with each library alone and with
# both.
. "$GM_TOP/tests/lib.sh"

rounds=4

"$CC" -g -O1 -pg -fPIC -shared -pthread -Wl,-z,initfirst -o early.so "$programs/fork_handlers_early.c" ||
	fail "cannot compile fork_handlers_early.c"
build_pg fork_handlers -Wl,--no-as-needed ./early.so -Wl,-rpath,"$PWD"
mv fork_handlers fork_handlers_pg
build fork_handlers -Wl,--no-as-needed ./early.so -Wl,-rpath,"$PWD"

# count FILE TABLE KEY VALUE: the calls of all rows whose KEY is VALUE
count()
{
	python3 - "$@" <<'PY'
import json, sys
path, table, key, value = sys.argv[1:]
rows = json.load(open(path))[table]
print(sum(row["calls"] for row in rows if row[key] == value))
PY
}

# check WHAT EXPECTED GOT
check()
{
	echo "$1: $3 of $2"
	[ "$2" = "$3" ] || fail "$1: expected $2, found $3"
}

# run WHAT COMMAND...: the libraries print no message, and the capture has no problems
run()
{
	local what=$1
	shift
	fresh "$@" >out 2>err || fail "$what: exit status $?: $(cat out err)"
	grep -q 'gprof-mt:' err && fail "$what: $(cat err)"
	"$gprof_mt" report --format json quality >quality.json || fail "$what: report quality"
	python3 - quality.json <<'PY' || fail "$what: expected an empty section quality"
import json, sys
problems = json.load(open(sys.argv[1]))["quality"]
bad = [p for p in problems if p.get("count")]
print(bad) if bad else None
sys.exit(bool(bad))
PY
}

# fork(): the handler before, the one in the parent, the one in the child, and the child's own lock.
# _Fork(), clone() and posix_spawn(): only the child's own lock.
locks=$((rounds * (4 + 1 + 1 + 1)))
work=$((rounds * 4))
early=$((rounds * 3))

locks_of()
{
	"$gprof_mt" report --format json sync >sync.json || fail "$1: report sync"
	check "$1: locks" $locks "$(count sync.json sync function pthread_mutex_lock)"
	check "$1: unlocks" $locks "$(count sync.json sync function pthread_mutex_unlock)"
}

calls_of()
{
	"$gprof_mt" report --format json flat >flat.json || fail "$1: report flat"
	check "$1: calls of child_work" $work "$(count flat.json functions name child_work)"
	check "$1: calls of early_take" $early "$(count flat.json functions name early_take)"
}

run sync env LD_PRELOAD="$libsync" ./fork_handlers $rounds
locks_of sync
run calls ./fork_handlers_pg $rounds
calls_of calls
run both env LD_PRELOAD="$libsync" ./fork_handlers_pg $rounds
locks_of both
calls_of both
run record "$gprof_mt" record -q --set kernel.source=none -- ./fork_handlers_pg $rounds
locks_of record
calls_of record
exit 0
