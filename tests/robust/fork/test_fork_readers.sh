#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Several readers start at the same time, and all try to move the places of children of fork into folders.  Each reader
# reports all children; afterwards the capture has exactly one folder for each child and no temporary files.
. "$GM_TOP/tests/lib.sh"

build fork_many
build robust/fork_steps
"$CC" -g -O1 -fPIC -shared -pthread -o loaded.so "$programs/fork_loaded.c" || fail "cannot compile"
rounds=10 readers=3

# read_at_once LOCKS: all readers read at once; each reports LOCKS locks and no problem
read_at_once()
{
	local i pids=()
	rm -f report.* err.*
	for ((i = 0; i < readers; i++)); do
		"$gprof_mt" report --format json sync quality >report.$i 2>err.$i &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || fail "round $round: a reader failed: $(tail -n 3 err.*)"
	done
	python3 - "$1" report.* <<-'PY' || fail "round $round: a reader lacks locks or reports problems"
	import json, sys
	bad = 0
	for path in sys.argv[2:]:
	    text, tables = open(path).read().lstrip(), {}
	    while text:
	        table, end = json.JSONDecoder().raw_decode(text)
	        tables.update(table)
	        text = text[end:].lstrip()
	    locks = sum(row["calls"] for row in tables["sync"] if row["function"] == "pthread_mutex_lock")
	    rows = [row for row in tables["quality"] if row.get("count") and "children of fork" in row["what"]]
	    if locks != int(sys.argv[1]) or rows:
	        print(f"{path}: {locks} of {sys.argv[1]} locks, {rows}")
	        bad = 1
	sys.exit(bad)
	PY
}

# one_each: the capture has one folder, or place in a pack, for each image, and no temporary file of a reader
one_each()
{
	local left
	left=$(find gprof-mt.data -maxdepth 2 -name '.*')
	[ -z "$left" ] || fail "round $round: temporary files are left: $left"
	python3 - <<-'PY' || fail "round $round: a child has several folders"
	import collections, glob, struct, sys
	images = collections.Counter(open(path, "rb").read(80)[72:80] for path in glob.glob("gprof-mt.data/*/threads"))
	for path in glob.glob("gprof-mt.data/*/packed.*/table"):
	    table, at = open(path, "rb").read(), 24
	    while at < len(table):
	        images[table[at + 24 + 72:at + 24 + 80]] += 1
	        at += struct.unpack("<I", table[at:at + 4])[0]
	sys.exit(any(n > 1 for n in images.values()))
	PY
}

total=0
for ((round = 1; round <= rounds; round++)); do
	LD_PRELOAD=$libsync fresh ./fork_many 40 >out || fail "fork_many: $(cat out)"
	expected=$(awk '$1 == "locks" && NF == 2 { print $2 }' out | tail -1)
	[ -n "$(find gprof-mt.data -name 'children.*')" ] || fail "the capture has no file of places (children.*) to test"
	read_at_once "$expected"
	one_each
	[ -z "$(find gprof-mt.data -name 'children.*')" ] || fail "round $round: a file of places (children.*) is left"
	total=$((total + expected))
done
echo "$rounds captures, $readers readers at once: $total locks each"

# begin HOW: starts fork_steps, and waits until its child says "ready"
begin()
{
	rm -rf gprof-mt.data to from
	mkfifo to from
	LD_PRELOAD=$libsync ./fork_steps "$1" <to >from &
	program=$!
	exec 3>to 4<from
	read -r -t 60 word <&4 && [ "$word" = ready ] || fail "expected 'ready' from the child, found '$word'"
}

again()
{
	printf x >&3
	read -r -t 60 word <&4 && [ "$word" = again ] || fail "expected 'again' from the child, found '$word'"
}

end()
{
	exec 3>&-
	wait "$program" || fail "fork_steps: exit status $?"
	exec 4>&-
}

# While the child runs, each reader copies its place.
begin place
for ((round = 1; round <= rounds; round++)); do
	read_at_once $((1 + 5 * round))
	one_each
	again
done
end
echo "$rounds times, $readers readers of a child that runs"

# The child makes a folder after its place was copied: readers at once remove the copy that none of them reads.
for ((round = 1; round <= rounds; round++)); do
	begin folder
	read_at_once 6
	again
	read_at_once 1006
	end
	read_at_once 1026
	"$gprof_mt" report quality >/dev/null || fail "round $round: report"
	one_each
done
echo "$rounds times, $readers readers of a child that makes a folder"

# hold LOCK...: a process, `holder`, takes the locks of a reader as it does, and is then stopped (turns.h).
# turn: moves children; out: removes a folder; in: reads.
hold()
{
	python3 - "$@" <<-'PY' &
	import fcntl, os, signal, struct, sys
	fd = os.open("gprof-mt.data/session", os.O_RDWR)
	for word in sys.argv[1:]:
	    if word == "turn":
	        fcntl.flock(fd, fcntl.LOCK_EX)
	    else:
	        kind = fcntl.F_WRLCK if word == "out" else fcntl.F_RDLCK
	        F_OFD_SETLK = 37
	        fcntl.fcntl(fd, F_OFD_SETLK, struct.pack("hhqqi4x", kind, os.SEEK_SET, 1, 1, 0))
	os.kill(os.getpid(), signal.SIGSTOP)
	PY
	holder=$!
	until_true 60 is_stopped "$holder" || fail "the process that holds the locks did not stop"
}

is_stopped()
{
	[ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat")" = T ]
}

let_go()
{
	kill -CONT "$holder"
	wait "$holder" || fail "the process that held the locks: exit status $?"
}

# reports PATTERN COUNT...: a reader ends, and its section quality has a row with the pattern for each of these counts
reports()
{
	# Folders that lack what is in their places are damaged for now: exit status 1.
	timeout 60 "$gprof_mt" report --format json quality >report.json 2>err
	status=$?
	[ $status -le 1 ] || fail "$1: exit status $status: $(cat err)"
	python3 - "$@" <<-'PY' || fail "expected rows '$1' with counts ${*:2}: $(cat report.json)"
	import json, sys
	tables, end = json.JSONDecoder().raw_decode(open("report.json").read().lstrip())
	counts = [row["count"] for row in tables["quality"] if sys.argv[1] in row["what"]]
	sys.exit(sorted(counts) != sorted(int(word) for word in sys.argv[2:]))
	PY
}

# A reader that is stopped in its turn holds up no other: it reports the children that it cannot see.
round=stopped
LD_PRELOAD=$libsync fresh ./fork_many 40 >out || fail "fork_many: $(cat out)"
expected=$(awk '$1 == "locks" && NF == 2 { print $2 }' out | tail -1)
# A child that has a folder may have children without one: each such folder has its row.
mapfile -t n_files < <(find gprof-mt.data -name 'children.*' | cut -d / -f 2 | sort | uniq -c | awk '{ print $1 }')
[ ${#n_files[@]} -gt 0 ] || fail "the capture has no file of places (children.*) to test"
hold turn
reports 'another gprof-mt was stopped while it read them' "${n_files[@]}"
let_go
read_at_once "$expected"
one_each
echo "a reader was stopped while it moved children"

# A reader that was stopped while it removed a folder: the others report this.
hold out
reports 'another gprof-mt was stopped while it removed the copy' 1
let_go

# A copy is not removed while a reader may read it. The others read the folder that the child has made.
begin folder
read_at_once 6
hold in
again
read_at_once 1006
[ "$(find gprof-mt.data -name threads | wc -l)" = 3 ] || fail "expected the parent's folder, the child's, and its copy"
let_go
read_at_once 1006
"$gprof_mt" report quality >/dev/null || fail "report"
one_each
end
echo "a copy was left to its reader"
exit 0
