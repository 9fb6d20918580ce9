#!/bin/bash
# SPDX-License-Identifier: MIT
# --format csv: readers of CSV find the same cells as in JSON, whatever the thread names; one table on
# standard output, or each in a file; an error is one line.
. "$GM_TOP/tests/lib.sh"
need python3
"$CC" -O0 -g -pg -o names "$GM_TOP/tests/report/programs/csv/names.c" -pthread || fail "cannot compile"

# agree DIR OPTION... -- PROGRAM...
agree()
{
	local dir=$1
	shift
	rm -rf "$dir" "csv.$dir"
	mkdir "csv.$dir"
	"$gprof_mt" record -q -o "$dir" "$@" >out 2>err || { echo "record: $(cat out err)"; return 1; }
	python3 "$GM_TOP/tests/report/programs/csv/compare_json.py" "$gprof_mt" "$dir" "csv.$dir"
}
retry agree d -- ./names
retry agree e --set kernel.source=none -- "$GM_BUILD/examples/philosophers" 6 20

# Without rows the output has the same files and columns, at any depth.
echo 'int main(void) { return 0; }' >empty.c
"$CC" -o empty empty.c || fail "cannot compile"
"$gprof_mt" record -q -o none --set kernel.source=none ./empty || fail "record"
for section in "csv.e"/*; do
	section=${section##*/}
	"$gprof_mt" report -i none --format csv --output none.csv "$section" 2>err || fail "$section: $(cat err)"
	for file in "csv.e/$section"/*; do
		of_none=none.csv/${file##*/}
		[ "$(head -1 "$file")" = "$(head -1 "$of_none")" ] || fail "$of_none: $(cat "$of_none")"
	done
done
for table in locks locks.sites locks.sites.holders paths.frames edges.sites; do
	[ "$(wc -l <none.csv/$table.csv)" = 1 ] || fail "none.csv/$table.csv: $(cat none.csv/$table.csv)"
done
"$gprof_mt" report -i none --format csv --table locks.sites locks 2>/dev/null | diff - none.csv/locks.sites.csv ||
	fail "--table and --output differ"

# Quoted as specified, without formulas; numbers and missing cells are not quoted.
"$gprof_mt" report -i d --format csv threads >threads.csv 2>err || fail "report: $(cat err)"
for name in "\"'=1+1\"" "\"'+1\"" "\"'-1\"" "\"'@x\"" "\"''q\"" '"a,""b"""' '"two?lines"' '"?[2J"' '"007"' '" blank "' '"true"'; do
	[ "$(grep -cF -- ",$name," threads.csv)" = 1 ] || fail "not there: $name in $(cat threads.csv)"
done
! grep -q $'\r\|\033' threads.csv || fail "control characters"
"$gprof_mt" report -i e --format csv threads 2>/dev/null | grep -q ',,' || fail "expected missing cells without kernel events"

fails 2 "csv contains one table: name one section" report -i d --format csv
fails 2 "csv contains one table: name one section" report -i d --format csv locks sync
fails 2 "--table is for --format csv" report -i d --table locks
fails 2 "--output is for --format csv" report -i d --format json --output o locks
fails 2 "--table and --output exclude each other" report -i d --format csv --output o --table locks
fails 2 "invalid --format 'html' (expected text, json or csv)" report -i d --format html
fails 1 "no table 'lock' in these sections (expected locks, locks.sites" report -i d --format csv --table lock locks
# e has notes, which are about tables that were written.
fails 1 "nowhere/o: No such file or directory" report -i e --format csv --output nowhere/o threads
: >file
fails 1 "file/threads.csv" report -i d --format csv --output file threads
