#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Processes run in PID and mount namespaces of their own, as in containers.  `record` outside knows which of them still
# run, though their pids belong to other processes there.  A reader in a second container, where the capture has another
# path and its processes are not visible, reports all events so far while the program runs.
. "$GM_TOP/tests/lib.sh"

unshare --fork --pid --mount-proc true 2>/dev/null || { echo "no PID namespaces"; exit 77; }
build_pg robust/fork_steps
mkdir second
container=(unshare --fork --pid --mount-proc)
# In a mount namespace of its own, with the capture at ./second.
second=(unshare --fork --pid --mount-proc sh -c 'mount --bind gprof-mt.data second && exec "$0" "$@"')

# quality PATTERN: prints the sum of the counts of the rows that match
quality()
{
	"$gprof_mt" report --format json quality | python3 -c 'import json, re, sys
rows = json.load(sys.stdin)["quality"]
print(sum(row["count"] for row in rows if re.match(sys.argv[1], row["what"])))' "$1"
}

# locks READER...: prints the number of locks that a reader reports, and its problems with places of children
locks()
{
	"$@" --format json sync quality >report.json 2>err || fail "$*: $(cat err)"
	python3 - <<-'PY'
	import json
	text, tables = open("report.json").read().lstrip(), {}
	while text:
	    table, end = json.JSONDecoder().raw_decode(text)
	    tables.update(table)
	    text = text[end:].lstrip()
	print(sum(row["calls"] for row in tables["sync"] if row["function"] == "pthread_mutex_lock"),
	      *[row["what"] for row in tables["quality"] if row.get("count") and "fork" in row["what"]])
	PY
}

steps=20
for how in place folder; do
	rm -rf gprof-mt.data to from
	mkfifo to from
	"${container[@]}" env LD_PRELOAD="$libsync" ./fork_steps $how <to >from &
	program=$!
	exec 3>to 4<from
	read -r -t 60 word <&4 && [ "$word" = ready ] || fail "$how: expected 'ready' from the child, found '$word'"
	expected=6
	for ((i = 1; i <= steps; i++)); do
		got=$(locks "${second[@]}" "$gprof_mt" report -i second)
		[ "$got" = $expected ] || fail "$how: the second container, step $i: expected $expected locks, found $got"
		printf x >&3
		read -r -t 60 word <&4 && [ "$word" = again ] || fail "$how: expected 'again' from the child, found '$word'"
		[ $how$i = folder1 ] && expected=$((expected + 1000)) || expected=$((expected + 5))
	done
	exec 3>&-
	wait $program || fail "$how: fork_steps: exit status $?"
	exec 4>&-
	got=$(locks "$gprof_mt" report)
	[ "$got" = $((expected + 20)) ] || fail "$how: at the end: expected $((expected + 20)) locks, found $got"
	echo "$how: read $steps times in a second container while the program ran, $got locks at the end"
done

# Two processes of another namespace outlive the program of record: a child of unshare, and a child of that.
rm -rf gprof-mt.data to from
mkfifo to from
exec 5<>to
# shellcheck disable=SC2016 # for the program
"$gprof_mt" record -q --set kernel.source=none -- sh -c \
	'unshare --fork --pid --mount-proc ./fork_steps place <to >from 5>&- & read -r word <from; [ "$word" = ready ]' 2>err ||
	fail "record: exit status $?: $(cat err)"
got=$(quality 'later calls.*still runs')
echo "$got processes outlive record, two of them in their namespace"
[ "$got" = 3 ] || fail "expected 3 processes that still run (unshare, its child, a child of that): $("$gprof_mt" report quality)"
for ((i = 1; i <= 3; i++)); do
	# When its child has ended, unshare can make no task of any kind, so its wait for the child is lost.
	"$gprof_mt" record -q -o ended --set kernel.source=none --set io.threshold=off -- "${container[@]}" ./fork_steps place </dev/null >out 2>err ||
		fail "record: exit status $?: $(cat err)"
	[ ! -s err ] || fail "a namespace that has ended: expected nothing on stderr, found: $(cat err)"
	rm -rf ended
done
exec 5>&-
exit 0
