#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The places that a process prepares for its children of fork (gmon-mt/children.h).  The data of
# children that have the same pid one after the other are kept apart.  While a child runs, readers copy
# its place; after its end they move it.  A reader of a damaged file neither crashes nor writes outside
# of the capture.
. "$GM_TOP/tests/robust/fork/common.sh"

build fork_same
build fork_many
"$CC" -g -O1 -fPIC -shared -pthread -o loaded.so "$programs/fork_loaded.c" || fail "cannot compile"
n=60 locks=$((60 * 61 / 2))

# locks_of: prints the numbers of locks and of processes (by image) in the report
locks_of()
{
	"$gprof_mt" report --format json sync >report.json || fail "report sync"
	python3 - <<'PY'
import json
rows = [r for r in json.load(open("report.json"))["sync"] if r["function"] == "pthread_mutex_lock"]
print(sum(r["calls"] for r in rows), len({(r["pid"], r["image"]) for r in rows}))
PY
}

if unshare --fork --pid --mount-proc true 2>/dev/null; then
	fresh unshare --fork --pid --mount-proc env LD_PRELOAD="$libsync" ./fork_same $n >same ||
		fail "fork_same"
	got=$(locks_of)
	echo "$(cat same) of $n children had the same pid: $got, of $locks locks in $n processes"
	[ "$got" = "$locks $n" ] || fail "children of the same pid: expected '$locks $n' (locks, processes), found '$got'"
else
	echo "no pid namespaces: children of the same pid are not tested"
fi

# The place of a child that still runs is copied, and moved after its end.
cat >waits.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char byte;
	if (fork() > 0)
		return 0;
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	puts("ready"), fflush(stdout);
	while (read(0, &byte, 1) == 1) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		puts("again"), fflush(stdout);
	}
	return 0;
}
END
"$CC" -g -O1 -pthread -o waits waits.c || fail "cannot compile"
# said WORD: the child's next line is WORD
said()
{
	local word
	read -r -t 60 word <&4 || fail "expected '$1' from the child, found no line"
	[ "$word" = "$1" ] || fail "expected '$1' from the child, found '$word'"
}

rm -rf gprof-mt.data gprof-mt.data.old
mkfifo to from
LD_PRELOAD=$libsync ./waits <to >from &
exec 3>to 4<from
said ready
[ "$(locks_of)" = "1 1" ] || fail "while the child runs: expected '1 1' (locks, processes), found '$(locks_of)'"
printf x >&3
said again
[ "$(locks_of)" = "2 1" ] || fail "while the child runs: expected '2 1' (locks, processes), found '$(locks_of)'"
exec 3>&-
read -r -t 60 <&4 # its end
exec 4>&-
for ((i = 0; i < 600; i++)); do
	[ "$(locks_of)" = "2 1" ] || fail "after the child's end: expected '2 1' (locks, processes), found '$(locks_of)'"
	compgen -G 'gprof-mt.data/*/children.*' >/dev/null || break
done
compgen -G 'gprof-mt.data/*/children.*' >/dev/null && fail "a file of places (children.*) is left after the child's end"
echo "a child: read twice while it ran, then moved"

# Damaged files.
fresh env LD_PRELOAD="$libsync" ./fork_many 16 >/dev/null || fail "fork_many"
cp -r gprof-mt.data whole
reads_damaged 12 whole quality
[ -z "$(find . -maxdepth 1 -name '[0-9]*')" ] || fail "a reader of a damaged capture wrote folders outside of it"
exit 0
