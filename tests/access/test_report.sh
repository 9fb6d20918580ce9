#!/bin/bash
# SPDX-License-Identifier: MIT
# `report accesses` and `report conflicts` of a compiled program whose sections and variables are known.
. "$GM_TOP/tests/access/common.sh"

# at TEXT: "FUNCTION (shared.c:LINE)" of the line with that comment or code.
at()
{
	local line
	line=$(grep -n -m 1 -F "$1" "$programs/shared.c" | cut -d : -f 1)
	echo "$2 (shared.c:$line)"
}

for compiler in $(compilers); do
	# shellcheck disable=SC2046 # several flags
	instrumented shared "$compiler" $(reads "$compiler") -fno-inline
	record_all d ./shared >out 2>&1 || fail "$compiler: $(cat out)"
	"$gprof_mt" report -i d --format json accesses conflicts >report.json 2>err || fail "$compiler: $(cat err)"
	GPROF_MT_READER=babeltrace "$gprof_mt" report -i d --format json accesses conflicts >other.json 2>err ||
		fail "$compiler: $(cat err)"
	cmp report.json other.json || fail "$compiler: the two readers differ"
	PUSH=$(at '/* push */' push) POP=$(at '/* pop */' pop) SLOT=$(at '/* slot */' count) \
		MADE=$(at 'malloc(sizeof' push) INCREMENT=$(at 'slots[me]++' count) python3 - <<'END' ||
import json, os

report = json.load(open("report.json"))
push, pop, slot, made, increment = (os.environ[name] for name in ("PUSH", "POP", "SLOT", "MADE", "INCREMENT"))
rows = {row["entry"]: row for row in report["accesses"]}
assert rows[slot]["instances"] == rows[slot]["recorded"] == 400, rows[slot]
# slots[me]++, own[me][0] = slots[me]: 2 reads and 2 writes of 2 locations in 2 lines, of which one is shared.
assert [rows[slot][key] for key in ("reads", "writes", "locations_ro", "locations_rw", "shared_rw", "lines_rw",
                                    "shared_lines_rw")] == [2, 2, 0, 2, 0, 2, 1], rows[slot]
# Each push and pop has one instance, or more if it waits; a waiting one begins anew.
for entry in (push, pop):
    assert rows[entry]["instances"] == 200 and rows[entry]["lock"] == "stack_lock", rows[entry]

variables = {}
for row in report["access_variables"]:
    variables.setdefault(row["variable"], []).append(row)
next, value = (f"struct node.{member} allocated at {made}" for member in ("next", "value"))
assert {"head", "state.pushed", "state.turn", "slots[]", "own[][]", next, value} == set(variables), variables.keys()
for name, shared, writes in (("head", 100, 400), ("state.turn", 100, 400), ("state.pushed", 0, 200), (next, 100, 200),
                             (value, 0, 200), ("slots[]", 0, 400), ("own[][]", 0, 400)):
    assert all(row["shared_pct"] == shared for row in variables[name]), variables[name]
    assert sum(row["writes"] for row in variables[name]) == writes, (name, variables[name])

lines = {row["line"]: row for row in report["false_sharing"]}
assert set(lines) == {"slots[0]"}, lines
line = lines["slots[0]"]
assert line["threads"] == 2 and line["instances"] == 400 and not line["shared_truly"] and line["other_writes"], line
assert {line["writes"], line["other"]} == {"slots[0]", "slots[1]"}, line
assert line["writes_at"] == line["other_at"] == increment and line["writes_in"] == line["other_in"] == slot, line

# The two threads take turns, so of two instances one writes the turn that the other one reads.
pairs = {(row["first"], row["second"]): row for row in report["conflicts"]}
assert all(row["lock"] == "stack_lock" for row in pairs.values()), pairs
assert all(row["conflicts"] == row["consecutive"] > 0 and "state.turn" in row["variables"]
           for row in pairs.values()), pairs
assert sum(row["conflicts"] for row in pairs.values()) >= 399, pairs
on = {name: sum(row["conflicts"] for row in report["conflict_variables"] if row["variable"] == name)
      for name in ("head", next, value, "state.pushed")}
assert on["head"] > 0 and 0 < on[next] <= 200 and on[value] == on["state.pushed"] == 0, on
END
		fail "$compiler: see above"
	"$gprof_mt" report -i d accesses conflicts >text 2>err && [ ! -s err ] || fail "$compiler: $(cat err)"
	grep -q '^false sharing: slots' text || fail "$compiler: no false sharing in words: $(head -9 text)"
	grep -q 'under stack_lock: .* shared: .*head (written)' text || fail "$compiler: $(head -9 text)"
	"$gprof_mt" report -i d --format csv --table conflicts conflicts >csv 2>err || fail "csv: $(cat err)"
	grep -q '^"stack_lock","mutex",1,' csv || fail "csv: $(cat csv)"
done

# A program that was not built for it: one line.
bare shared gcc
record_all d ./shared.bare
for section in accesses conflicts; do
	"$gprof_mt" report -i d "$section" >out 2>err && [ ! -s err ] || fail "bare: $(cat err)"
	[ "$(grep -c 'note: the capture has no accesses' out)" = 1 ] || fail "bare: $(cat out)"
done

# Code that was not compiled for it: a library, and one of two source files, is named in a line each.
echo 'int in_library(int x) { return x + 1; }' >library.c
echo 'int plain(int x) { return x + 1; }' >plain.c
cat >mixed.c <<'END'
#include <pthread.h>
int in_library(int), plain(int);
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int value;
int main(void)
{
	pthread_mutex_lock(&mutex);
	value = plain(value) + in_library(value);
	pthread_mutex_unlock(&mutex);
	return 0;
}
END
gcc -g -shared -fPIC -o libplain.so library.c && gcc -g -c plain.c && gcc -g -fsanitize=thread -c mixed.c &&
	gcc -o mixed mixed.o plain.o ./libplain.so "${access_link[@]}" || fail "cannot compile mixed"
record_all d ./mixed
"$gprof_mt" report -i d accesses >out 2>err && [ ! -s err ] || fail "mixed: $(cat err)"
[ "$(grep -c 'accesses of these are missing.*: libplain\.so$' out)" = 1 ] || fail "mixed: $(cat out)"
[ "$(grep -c 'accesses of these source files are missing.*: plain\.c$' out)" = 1 ] || fail "mixed: $(cat out)"
