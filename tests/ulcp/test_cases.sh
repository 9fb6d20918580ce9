#!/bin/bash
# SPDX-License-Identifier: MIT
# `report ulcp` of small programs: the figures and the cases of appendix A of paper 003, and the other classes. Each
# pair of sections has the class that is known.
. "$GM_TOP/tests/access/common.sh"
# shellcheck disable=SC2034 # for instrumented()
programs=$GM_TOP/tests/ulcp/programs

instrumented cases gcc

# at FUNCTION TEXT: "FUNCTION (cases.c:LINE)" of the line with that text.
at()
{
	echo "$1 (cases.c:$(grep -n -m 1 -F "$2" "$programs/cases.c" | cut -d : -f 1))"
}

# classified CASE FIRST SECOND CLASS [N]: N consecutive sections, entered in these functions or at these lines, are all
# of that class.
classified()
{
	record_all "$1" ./cases "$1" >out 2>&1 || fail "$1: $(cat out)"
	"$gprof_mt" report -i "$1" --format json ulcp >"$1.json" 2>err || fail "$1: $(cat err)"
	python3 - "$@" <<'END' || fail "$1: $(cat "$1.json")"
import json, sys
case, first, second, wanted, *n = sys.argv[1:]
def is_of(row, a, b):
    return all(entry == name or entry.split(" ")[0] == name for entry, name in zip((row["first"], row["second"]), (a, b)))
rows = [row for row in json.load(open(case + ".json"))["ulcp_pairs"]
        if is_of(row, first, second) or is_of(row, second, first)]
assert rows, "no such pair"
for row in rows:
    assert row[wanted] == row["consecutive"] > 0, row
assert not n or sum(row["consecutive"] for row in rows) == int(n[0]), rows
END
}

classified figure_3 if_local if_local null_lock 9
classified figure_4 poll_ref poll_ref read_read 2
classified figure_4 poll_ref release_ref undecided_flags 2
classified figure_7 read_one read_two read_read
classified figure_7 read_two write_one disjoint_write 3
classified figure_7 write_one write_one true 1
classified case_1 signal_waiting "$(at wait_for_signal "/* again */")" null_lock
classified case_2 print_transactions print_transactions read_read 18
classified case_3 has_released_slot release_thread disjoint_write 9
classified case_4 close_connection fill_process_list disjoint_write 9
classified case_5 set_mysys_var set_query_id disjoint_write 9
classified case_6 list_process set_db disjoint_write 9
classified case_7 search_cache search_cache read_read 9
classified case_8 inc_pending_ops space_size disjoint_write 9
classified case_9 try_lock try_lock null_lock 9
classified case_10 wait_if_global_read_lock wait_if_global_read_lock read_read 9
classified redundant set_ready set_ready benign 9
classified counter add add undecided_updates 9
classified bits flip_bit_0 flip_bit_1 undecided_updates 9
classified assign read_one write_one true 9
classified rwlock read_as_reader write_as_writer true 10

# Figure 7: rule 1 draws four edges, and passes the pairs that need no order.
python3 - <<'END' || fail "figure_7: $(cat figure_7.json)"
import json
row, = json.load(open("figure_7.json"))["ulcp"]
# The section of the main thread contends first with one section of each thread that reads or writes what it wrote.
assert row["contending"] == 4 + 3, row
assert row["readers"] == 0 and row["sections"] == 7, row
END

# Two readers of a read-write lock are left out.
python3 -c '
import json
report = json.load(open("rwlock.json"))
assert not [row for row in report["ulcp_pairs"] if row["first"] == row["second"]], report
assert report["ulcp"][0]["readers"] == 5 + 4, report' || fail "rwlock: $(cat rwlock.json)"

# The text begins with the answer.
"$gprof_mt" report -i case_2 ulcp >out 2>err || fail "$(cat err)"
grep -q '^[0-9]* % of 19 consecutive pairs of critical sections of different threads need not exclude each other' out ||
	fail "$(cat out)"
grep -q '^print_transactions (cases.c:[0-9]*), under lock: 100 % of 9 pairs (9 read-read)' out || fail "$(cat out)"

# Without accesses, nothing is guessed.
bare cases gcc
record_all without ./cases.bare counter >out 2>&1 || fail "$(cat out)"
"$gprof_mt" report -i without ulcp >out 2>err || fail "$(cat err)"
grep -q '^0 % of 10 consecutive pairs .*; 10 are undecided (10 have accesses that are not known)' out || fail "$(cat out)"
grep -q 'the capture has no accesses' out || fail "$(cat out)"
