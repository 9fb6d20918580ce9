#!/bin/bash
# SPDX-License-Identifier: MIT
# A process that executes one program after another: every table with thread names separates the images, and
# an image ends when the next begins, also without kernel events.
. "$GM_TOP/tests/lib.sh"
cat >again.c <<'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void *work(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(int argc, char **argv)
{
	int status;

	if (argc == 1) {
		if (fork() == 0) {
			work(NULL); /* only the exec shows that the image of the fork has ended */
			execl("./other", argv[0], "last", (char *)NULL);
			_exit(1);
		}
		wait(&status);
		usleep(200000);
		execl("./other", argv[0], "last", (char *)NULL);
		return 1;
	}
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	return 0;
}
END
"$CC" -pg -O1 -g -o again again.c -pthread || fail "cannot compile"
ln -s again other || fail "cannot make a symlink"

for source in none switches perf; do
	[ $source = perf ] && ! can_trace && continue
	[ $source = switches ] && ! "$gprof_mt" doctor | grep -q "^ok *.*context switch" && continue
	"$gprof_mt" record -q -o "$source" --set kernel.source=$source ./again || fail "record"
	"$gprof_mt" report -i "$source" --format json threads sync locks flat callgraph switches critical-path >report.json ||
		fail "report"
	"$gprof_mt" history -i "$source" --format json >history.json || fail "history"
	"$gprof_mt" graph -i "$source" --kind switch --no-group >graph.dot 2>err || [ $source != perf ] ||
		fail "graph: $(cat err)"
	python3 - $source <<'END' || fail "with $source"
import json, sys
report, history = json.load(open("report.json")), json.load(open("history.json"))
key = lambda row: (row["pid"], row["image"], row["index"])
threads = {key(t): t for t in report["threads"]}
assert len(threads) == len(report["threads"]) == 6, report["threads"]
for table in "sync", "functions", "arcs", "nodes":
    assert {key(row) for row in report[table]} <= set(threads), table
assert len({key(n) for n in report["nodes"]}) == 6
assert len({(row["pid"], row["image"], row["index"], row["name"]) for row in report["functions"]}) == len(report["functions"])
assert {o["image"] for o in history["objects"]} == {l["image"] for l in report["locks"]} == {0, 1}
for pid in {t["pid"] for t in report["threads"]}:
    first, second = threads[pid, 0, 0], threads[pid, 1, 0]
    assert first["end_ns"] <= second["start_ns"] < second["end_ns"], (first, second)
    assert (first["name"], second["name"]) == ("again", "other"), (first, second)
    # The exec is an event of the kernel: the time of the loader belongs to the new program.
    assert sys.argv[1] != "perf" or first["end_ns"] == second["start_ns"], (first, second)
if sys.argv[1] == "perf":
    # The causes of the exec are causes of what follows it.
    path = {key(row): row["path_ns"] for row in report["critical_threads"]}
    assert any(ns >= 200000000 and image == 0 and (pid, 1, 0) in path for (pid, image, _), ns in path.items()), path
    ends = [(e[d + "_pid"], e[d + "_image"], e[d + "_index"]) for e in report["edges"] for d in ("from", "to")]
    drawn = {l.split("[")[0].strip() for l in open("graph.dot") if "[label=" in l and "->" not in l}
    assert len(drawn) == len(set(ends)), (drawn, set(ends))
END
done
