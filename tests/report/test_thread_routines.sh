#!/bin/bash
# SPDX-License-Identifier: MIT
# A thread without a name of its own is shown with that of its start routine, everywhere; a std::thread with the
# function that it was given.
. "$GM_TOP/tests/lib.sh"
need python3 g++

# names DIR: the names of the threads, without the main thread's, sorted
names()
{
	"$gprof_mt" report -i "$1" --format csv threads 2>/dev/null |
		python3 -c '
import csv, sys
rows = [r for r in csv.DictReader(sys.stdin) if r["tid"] != r["pid"]]
print("\n".join(sorted(r["name"] for r in rows)))'
}

record() { "$gprof_mt" record -q "$@" >record.log 2>&1 || fail "record $*: $(cat record.log)"; }

"$CC" -pg -O1 -g -D_GNU_SOURCE -o plain "$programs/routines/plain.c" -pthread "${link[@]}" || fail "cannot compile"
record -o d -- ./plain
same "names" "listener-1
serve
serve
serve" "$(names d)"

# The same in the other sections and commands.
"$gprof_mt" report -i d sync locks flat >text || fail report
for text in "serve  *serve" "thread  *serve (tid [0-9]*)" "^thread [0-9]* serve (tid"; do
	grep -q "$text" text || fail "no '$text' in $(cat text)"
done
"$gprof_mt" history -i d | grep -q ' serve  *mutex_lock' || fail "history"
[ "$("$gprof_mt" report -i d --thread serve --format csv threads 2>/dev/null | wc -l)" = 4 ] || fail "--thread serve"
[ "$("$gprof_mt" report -i d --thread 'plain' --format csv threads 2>/dev/null | wc -l)" -ge 2 ] ||
	fail "--thread with the kernel's name"
"$gprof_mt" diff d d --format json threads >diff.json || fail diff
python3 - <<'END' || fail "diff: $(cat diff.json)"
import json
rows = json.load(open("diff.json"))["threads"]
assert sorted((r["name"], r["rows_a"]) for r in rows) == [("listener-1", 1), ("plain", 1), ("serve", 3)], rows
END
"$gprof_mt" export -i d --format perfetto -o trace 2>export.log && grep -qa serve trace || fail "export: $(cat export.log)"

# The C++ library's threads, with and without optimization.
for flags in -O0 -O2; do
	g++ -pg $flags -g -o standard "$programs/routines/standard.cc" -pthread "${link[@]}" || fail "cannot compile"
	record -o cc -- ./standard
	same "names with $flags" "Pool::run()
Task
main::{lambda()#1}
serve(int, Argument)" "$(names cc | sed 's/ \[clone .*//')"
	rm -rf cc
done

# Call paths leave functions of the C++ library out.
g++ -O0 -g -fno-omit-frame-pointer -o waits "$programs/routines/waits.cc" -pthread || fail "cannot compile waits"
record -o cc --set sync.paths=0ns -- ./waits
"$gprof_mt" report -i cc --format json paths >paths.json || fail "report paths"
python3 - <<'END' || fail "paths: $(cat paths.json)"
import json
paths = [row for row in json.load(open("paths.json"))["paths"] if row["function"] == "pthread_cond_wait"]
ours = [row for row in paths if row["path"].startswith("await() < serve()")]
assert ours and not any("std::" in row["path"] or "libstdc++" in row["path"] for row in paths), paths
assert any("std::condition_variable::wait" in frame["site"] for frame in ours[0]["frames"]), ours
END
exit 0
