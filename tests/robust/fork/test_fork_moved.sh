#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Readers move the places of children of fork (gmon-mt/children.h) at any time: while the process runs,
# between two steps of another reader, or after a reader was killed half-way.  No event of the child
# is lost, neither from before nor from after.
. "$GM_TOP/tests/lib.sh"

build robust/fork_steps
build fork_many
"$CC" -g -O1 -fPIC -shared -pthread -o loaded.so "$programs/fork_loaded.c" || fail "cannot compile"

reader=()

# locks: prints the number of locks in the report, and writes its problems to the file `problems`
locks()
{
	"${reader[@]}" "$gprof_mt" report --format json sync >report.json || fail "report sync"
	"${reader[@]}" "$gprof_mt" report --format json quality >quality.json ||
		fail "report quality"
	python3 - <<'PY'
import json
rows = json.load(open("quality.json"))["quality"]
with open("problems", "w") as file:
    for row in rows:
        if row.get("count") and "children of fork" in row["what"]:
            print(row["count"], row["what"], row["where"], file=file)
rows = json.load(open("report.json"))["sync"]
print(sum(row["calls"] for row in rows if row["function"] == "pthread_mutex_lock"))
PY
}

# has WHEN LOCKS: the report has all locks and no problems
has()
{
	local got
	got=$(locks)
	echo "$1: $got of $2 locks"
	[ "$got" = "$2" ] || fail "$1: expected $2 locks, found $got: $(cat problems)"
	[ ! -s problems ] || fail "$1: expected no problems, found: $(cat problems)"
}

# begin HOW COMMAND...: starts the program and waits until its child says "ready"
begin()
{
	local how=$1
	shift
	rm -rf gprof-mt.data gprof-mt.data.old to from
	mkfifo to from
	"$@" env LD_PRELOAD="$libsync" ./fork_steps "$how" <to >from &
	program=$!
	exec 3>to 4<from
	said ready
}

said()
{
	local word
	read -r -t 60 word <&4 || fail "expected '$1' from the child, found no line"
	[ "$word" = "$1" ] || fail "expected '$1' from the child, found '$word'"
}

again()
{
	printf x >&3
	said again
}

end()
{
	exec 3>&-
	wait "$program" || fail "fork_steps: exit status $?"
	exec 4>&-
}

no_places()
{
	[ -z "$(find gprof-mt.data -name 'children.*')" ] || fail "$1: a file of places (children.*) is left"
}

# A child whose place was copied before it made a folder: the copy has the name that the folder gets,
# and is removed.
begin folder
has "before the folder" 6
again
has "with a folder" 1006
has "once more" 1006
again
has "later" 1011
end
has "at the end" 1031
no_places "a child with a folder"

# The pid of a process in another PID namespace is meaningless here, and a process that is not visible
# here may still run.
if unshare --fork --pid --mount-proc true 2>/dev/null; then
	begin pid
	has "in a PID namespace" 6
	again
	has "in a PID namespace, once more" 11
	end
	has "in a PID namespace, at the end" 31
	no_places "a child in a PID namespace"

	begin pid unshare --fork --pid --mount-proc
	has "in two PID namespaces" 6
	again
	end
	has "in two PID namespaces, at the end" 31
	no_places "a child in two PID namespaces"

	reader=(unshare --fork --pid --mount-proc)
	begin place
	has "read from a PID namespace" 6
	again
	has "read from a PID namespace, once more" 11
	end
	has "read from a PID namespace, at the end" 31
	reader=()
	has "read here" 31
	no_places "a child read from a PID namespace"
else
	echo "no PID namespaces: children in one are not tested"
fi

# The process numbers of another machine, which may share the directory, say nothing here: its file of places stays.
# A file system with the lock of `session` has one machine, which was started again since.
begin place
kill -KILL "$program"
exec 3>&-
wait "$program" 2>/dev/null
read -r -t 60 -N 1 _ <&4
exec 4>&-
sed -i "s/$(cat /proc/sys/kernel/random/boot_id)/11111111-2222-3333-4444-555555555555/" \
	gprof-mt.data/session gprof-mt.data/*/user/metadata
sed -i '/^lock/d' gprof-mt.data/session
has "killed, perhaps on another machine" 26
has "once more" 26
[ -n "$(find gprof-mt.data -name 'children.*')" ] || fail "the file of places of another machine is removed"
echo "lock 1" >>gprof-mt.data/session
has "killed before another start of this machine" 26
no_places "a child of an earlier start"

# The state between the two steps in which a reader closes a file of places, also left by a reader
# that was killed there.
LD_PRELOAD=$libsync fresh ./fork_many 40 >out || fail "fork_many: $(cat out)"
expected=$(awk '$1 == "locks" && NF == 2 { print $2 }' out | tail -1)
python3 - <<'PY' || fail "the capture has too few places (children.*) to test"
import glob, struct, sys
CLAIMED, CLOSED = 24, 1 << 31
files = glob.glob("gprof-mt.data/*/children.*")
for path in files:
    with open(path, "r+b") as file:
        file.seek(CLAIMED)
        n, = struct.unpack("<I", file.read(4))
        file.seek(CLAIMED)
        file.write(struct.pack("<I", n | CLOSED))
sys.exit(not files)
PY
has "closed by another reader" "$expected"
no_places "closed by another reader"

# Each place that cannot be moved is counted once, also after repeated attempts. The parent, whose metadata is removed,
# has no stream of its own.
printf '[io]\nthreshold = off\n' >no_calls.conf
GPROF_MT_CONFIG=$PWD/no_calls.conf LD_PRELOAD=$libsync fresh ./fork_many 40 >out || fail "fork_many: $(cat out)"
python3 - >expected <<'PY' || fail "the capture has too few places (children.*) to test"
import glob, os, struct, sys
HEADER, PLACE, BEGUN, STREAM, PACKETS = 4096, 8192, 1, 1, 512
damaged = left = 0
for path in glob.glob("gprof-mt.data/*/children.*"):
    with open(path, "r+b") as file:
        data = file.read()
        for at in range(HEADER, len(data), PLACE):
            state, folder, parts = struct.unpack("<3I", data[at:at + 12])
            pid, = struct.unpack("<I", data[at + 48:at + 52])
            name = f"gprof-mt.data/{pid}" + (f".{folder - 1}" if folder > 1 else "")
            if state != BEGUN or not parts & STREAM:
                continue
            if folder and os.path.exists(name + "/user/metadata"):
                continue
            if damaged < 3:
                file.seek(at)
                file.write(struct.pack("<I", 77))
                damaged += 1
            elif data[at + PACKETS:at + PACKETS + 4] != bytes(4):
                left += 1
    metadata = os.path.dirname(path) + "/user/metadata"
    if os.path.exists(metadata):
        os.remove(metadata)
print(f"{damaged} damaged, {left} without metadata")
sys.exit(damaged < 3 or left < 3)
PY
locks >/dev/null
awk '/damaged/ { damaged += $1 } /No data available/ { left += $1 }
	END { printf("%d damaged, %d without metadata\n", damaged, left) }' problems >got
echo "left out: $(cat got)"
cmp -s expected got || fail "expected $(cat expected), found $(cat got): $(cat problems)"
exit 0
