#!/bin/bash
# SPDX-License-Identifier: MIT
# Text on a terminal fits its width: a line below each table names the columns that are left out, and those that
# identify a row stay. --wide, files and pipes have all columns.
. "$GM_TOP/tests/lib.sh"
need python3
terminal=$programs/width/terminal.py
# TERM=dumb: without progress, which a slow machine would show.
export NO_COLOR=1 TERM=dumb
unset COLUMNS

"$gprof_mt" record -q -o d -- "$GM_BUILD/examples/farm" 4 400 >record.log 2>&1 || fail "record: $(cat record.log)"
sections=(summary threads sync locks flat switches paths critical-path activity quality)
"$gprof_mt" report -i d "${sections[@]}" >piped || fail "report"

for width in 60 80 132; do
	"$terminal" "$width" "$gprof_mt" report -i d "${sections[@]}" >"at$width" || fail "report at $width columns"
	! grep -nE ".{$((width + 1))}" "at$width" || fail "lines of more than $width columns"
	# The tables and their rows are the same.
	diff <(grep -E '^[A-Z]' piped) <(grep -E '^[A-Z]' "at$width") || fail "titles at $width columns"
done
[ "$(grep -c 'left out: .*--wide' at80)" -ge 3 ] || fail "left out at 80 columns: $(cat at80)"

# The threads keep tid, name and lifetime; other columns are named below them.
threads() { sed -n '/^Threads/,/^  note:/p;/^[A-Z]/{/^Threads/!q}' "$1"; }
"$terminal" 60 "$gprof_mt" report -i d threads >narrow
read -ra titles < <(sed -n 3p narrow)
same "the first columns" "tid name lifetime" "${titles[*]:0:3}"
out=$(sed -n '/left out/,/columns$/p' narrow | tr -s ' \n' ' ')
[[ $out = ' left out: '*'calls/act.; --wide shows all columns ' ]] || fail "left out: $out"
for title in running runnable sync 'not run. %' 'blocked %' vol. calls; do
	grep -q "^ .*  $title\( \|$\)" <(sed -n 3p narrow) || [[ $out = *"$title"* ]] || fail "$title is neither shown nor named: $(cat narrow)"
done

# COLUMNS has precedence over the terminal's width, but does not apply to files.
COLUMNS=60 "$terminal" 200 "$gprof_mt" report -i d threads | cmp - narrow || fail "COLUMNS=60 in a terminal"
COLUMNS=60 "$gprof_mt" report -i d "${sections[@]}" | cmp - piped || fail "COLUMNS=60 in a pipe"
"$terminal" 60 "$gprof_mt" report -i d --wide "${sections[@]}" | cmp - piped || fail "--wide"
"$terminal" 0 "$gprof_mt" report -i d "${sections[@]}" | cmp - piped || fail "a terminal of unknown width"

# The other commands that print tables.
"$terminal" 60 "$gprof_mt" history -i d --order object --object queue >history || fail history
! grep -nE '.{61}' history || fail "history: lines of more than 60 columns"
[ "$(grep -c 'left out' history)" = 1 ] || fail "history names the columns left out $(grep -c 'left out' history) times"
"$terminal" 60 "$gprof_mt" history -i d --order object --object queue --wide | cmp - <("$gprof_mt" history -i d --order object --object queue) ||
	fail "history --wide"
# Lines that are printed while they are read have fixed columns.
"$gprof_mt" history -i d >history.piped || fail history
"$gprof_mt" timeline -i d --thread 'worker-0' >timeline.piped || fail timeline
for width in 45 60 80 132; do
	"$terminal" "$width" "$gprof_mt" history -i d >history || fail "history at $width columns"
	"$terminal" "$width" "$gprof_mt" timeline -i d --thread 'worker-0' >timeline || fail "timeline at $width columns"
	for command in history timeline; do
		! grep -nE ".{$((width + 1))}" $command || fail "$command: lines of more than $width columns"
		[ "$(grep -cE '^ *[0-9]+\.[0-9]{6} ' $command)" = "$(grep -cE '^ *[0-9]+\.[0-9]{6} ' $command.piped)" ] ||
			fail "$command: number of lines at $width columns"
	done
	grep -qE '^ *[0-9.]+ .*[a-z]+_(un)?lock .*queue' history || fail "history: operation and object at $width columns"
done
grep -q 'left out: ' history && fail "history leaves out columns at 132 columns"
"$terminal" 60 "$gprof_mt" history -i d --wide | cmp - history.piped || fail "history --wide in order of time"
"$terminal" 60 "$gprof_mt" timeline -i d --thread 'worker-0' --wide | cmp - timeline.piped || fail "timeline --wide"
"$terminal" 60 "$gprof_mt" diff d d threads >diff || fail diff
! grep -nE '.{61}' diff || fail "diff: lines of more than 60 columns"
exit 0
