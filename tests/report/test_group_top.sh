#!/bin/bash
# SPDX-License-Identifier: MIT
# report --group shows similar threads as one row, whose figures are those of its threads together; --top shows
# the first rows, and what the others have. In all formats, and in the layouts of gprof.
. "$GM_TOP/tests/lib.sh"
need python3
"$gprof_mt" record -q -o d -- "$GM_BUILD/examples/philosophers" 12 20 >record.log 2>&1 ||
	fail "record: $(cat record.log)"
sections=(threads sync flat callgraph activity switches critical-path)
tables=(threads sync functions arcs activity critical_threads)
"$gprof_mt" report -i d --format json "${sections[@]}" >all.json || fail "report"
"$gprof_mt" report -i d --group --format json "${sections[@]}" >groups.json || fail "report --group"
! grep -q '"to_group"' all.json || tables+=(edges)
"$programs/group/sums.py" all.json groups.json "${tables[@]}" || fail "sums of groups"

# The main thread, and the philosophers by their start routine.
"$gprof_mt" report -i d --group threads >text || fail "--group threads"
read -ra titles < <(sed -n 3p text)
same "columns" "group threads lifetime least most running" "${titles[*]:0:6}"
same "groups" "dine 12
philosophers 1" "$(awk 'NR > 3 && NF > 2 && !/note:/ {print $1, $2}' text | sort)"
"$gprof_mt" report -i d --group --format csv threads 2>/dev/null | head -1 |
	grep -q '^group,threads,lifetime_ns,least_lifetime_ns,most_lifetime_ns,running_ns,' || fail "--group --format csv"

# gprof's layouts: a profile and a graph of each group.
for section in flat callgraph; do
	"$gprof_mt" report -i d --group $section >text || fail "--group $section"
	same "$section by group" "1 thread of group philosophers
12 threads of group dine" "$(sed -n 's/^\([0-9]* threads\? of group [a-z]*\) .*/\1/p' text | sort)"
	! grep -q '(tid ' text || fail "$section --group: $(grep '(tid ' text)"
done
calls=$(sed -n '/of group dine/,$p' <("$gprof_mt" report -i d --group flat) | awk '$NF == "eat" {print $4; exit}')
same "calls of eat" $((12 * 20)) "$calls"

# 200 threads in a few lines
[ "$("$gprof_mt" report -i d --group | wc -l)" -lt "$("$gprof_mt" report -i d | wc -l)" ] || fail "--group is not shorter"

# --top: the threads with the most CPU time; text, JSON and CSV agree.
"$gprof_mt" report -i d --top 3 --format json threads >top.json || fail "--top 3"
python3 - <<'END' || fail "--top 3 --format json"
import json
rows = json.load(open("all.json"))["threads"]
top = json.load(open("top.json"))
for r in rows:  # null without scheduling events
    r["running_ns"] = r["running_ns"] or 0
want = sorted(rows, key=lambda r: -r["running_ns"])[:3]
assert [r["tid"] for r in top["threads"]] == [r["tid"] for r in want], (top, want)
total = sum(r["running_ns"] for r in rows)
note = "3 of 13 rows"
if total:
    rest = 100 * (1 - sum(r["running_ns"] for r in want) / total)
    note += f"; {rest:.1f} % of 'running' is in the others"
assert note in [n["note"] for n in top["notes"]], (note, top["notes"])
END
tids=$(sed -n 's/.*"tid" : \([0-9]*\),/\1/p' top.json)
same "tids in text" "$tids" "$("$gprof_mt" report -i d --top 3 threads | awk 'NR > 3 && $1 ~ /^[0-9]+$/ {print $1}')"
same "tids in CSV" "$tids" "$("$gprof_mt" report -i d --top 3 --format csv threads 2>notes | cut -d, -f3 | tail -n +2)"
grep -q 'threads: 3 of 13 rows; ' notes || fail "notes of CSV: $(cat notes)"
same "locks" 2 "$("$gprof_mt" report -i d --top 2 --format csv locks 2>/dev/null | tail -n +2 | wc -l)"
"$gprof_mt" report -i d --top 1 --tid "$(head -1 <<<"$tids")" flat callgraph >text || fail "--top 1 flat"
same "functions" 2 "$(grep -c '^\.\.\. and [0-9]* more functions$' text)"
"$gprof_mt" report -i d --top 0 threads | cmp - <("$gprof_mt" report -i d threads) || fail "--top 0"
"$gprof_mt" report -i d --group --top 1 --format json sync | grep -c '"function"' | grep -qx 1 || fail "--group --top 1"
[ "$("$gprof_mt" report -i d --top x threads 2>&1)" = "gprof-mt report: --top x: not a number; see \`gprof-mt report --help\`" ] ||
	fail "--top x"
exit 0
