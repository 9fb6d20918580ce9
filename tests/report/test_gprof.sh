#!/bin/bash
# SPDX-License-Identifier: MIT
# Stock gprof and our report on the same run: the same flat profile and the same call graph, entry by entry,
# for each thread, with recursion and cycles; with and without PIE, with a static library.
set -eu
report() { "$GM_BUILD/gprof-mt" report -i run.data "$@"; }

cat >library.c <<'END'
int leaf(int n) { return n + 1; }
static int hidden(int n) { return leaf(n) + leaf(n + 1); }
int library(int n) { return hidden(n); }
END
cat >program.c <<'END'
#include <pthread.h>
int library(int n);
int odd(int n);
int even(int n) { return n == 0 ? 1 : odd(n - 1); }
int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
static int once(int n) { return n; }
int shared(int n) { return once(n) + library(n); }
/* A cycle of three functions, one of which is recursive; two call sites enter the cycle. */
int first(int n);
int third(int n) { return n <= 0 ? 0 : first(n - 1); }
int second(int n) { return n <= 0 ? 0 : n % 5 == 0 ? second(n - 1) : third(n - 1); }
int first(int n) { return n <= 0 ? 0 : second(n - 1); }
void *work(void *arg)
{
	long n = (long)arg;
	for (long i = 0; i < n; i++)
		shared((int)i);
	even((int)n);
	odd(3);
	factorial(10);
	first(50);
	third((int)n);
	return arg;
}
int main(void)
{
	pthread_t thread[3];
	for (long i = 0; i < 3; i++)
		pthread_create(&thread[i], 0, work, (void *)(10 * (i + 1)));
	for (long i = 0; i < 3; i++)
		pthread_join(thread[i], 0);
	work((void *)7);
	return 0;
}
END

# Reduces both texts to their content, without entry numbers, times and order. gprof attributes calls from
# outside the program to the nearest symbol; these have no caller's name.
cat >normal.py <<'END'
import re, sys
graph = sys.argv[1] == "graph"
entry, out = [], []
def clean(name):
    name = re.sub(r"\s*\[\d+\]\s*$", "", name)
    return re.sub(r"<cycle \d+", "<cycle", name)
def finish():
    primary = [i for i, line in enumerate(entry) if line.startswith("[")]
    if not primary:
        return
    at = primary[0]
    rows = []
    for i, line in enumerate(entry):
        body = re.sub(r"^\[\d+\]", "", line)
        body = re.sub(r"^(\s+(-|\d+\.\d+))*\s+", " ", " " + body).strip()
        called = re.match(r"(\d+(?:[+/]\d+)?)\s+(.*)", body)
        count, name = called.groups() if called else ("", body)
        name = clean(name)
        if i < at and (name in ("<spontaneous>", "_start", "_init", "__libc_start_call_main",
                                "start_thread", "<cycle as a whole>") or name.startswith("0x")):
            name = "<outside>"
        rows.append(("caller" if i < at else "callee" if i > at else "self", name, count))
    if rows[at][1] not in ("_start", "_init", "__libc_start_call_main", "start_thread"):
        out.append("\n".join([" ".join(rows[at])] +
                             sorted(" ".join(r) for r in rows if r is not rows[at])))
for line in sys.stdin:
    line = line.rstrip("\n")
    if not graph:
        words = line.split()
        if len(words) >= 5 and re.fullmatch(r"-|[\d.]+", words[0]) and words[3].isdigit():
            out.append(words[-1] + " " + words[3])
    elif line.startswith("----"):
        finish()
        entry = []
    elif line.startswith("\f") or line.startswith("Index by"):
        entry = []
    elif line.strip() and (line[0] in " [") and not line.startswith("index"):
        entry.append(line)
print("\n".join(sorted(out)))
END

compare()
{
	local program=$1 gmon tid threads=0
	shift
	"$CC" -pg -g -O0 "$@" -o "$program" program.c lib.a -pthread -L"$GM_BUILD" -lgmon_mt \
		-Wl,-rpath,"$GM_BUILD"
	rm -rf run.data gprof-mt.data
	"./$program"
	mv gprof-mt.data run.data
	for gmon in run.data/*/gmon.*; do
		tid=${gmon##*.}
		gprof -b -p "$program" "$gmon" | python3 normal.py flat >flat.theirs
		report flat --tid "$tid" | python3 normal.py flat >flat.text
		# gprof omits a function's calls of itself from its flat profile.
		report --format json flat --tid "$tid" | python3 -c '
import json, sys
rows = [r for r in json.load(sys.stdin)["functions"] if r["calls"] is not None]
with open("flat.all", "w") as all:
    print("\n".join(sorted("%s %d" % (r["name"], r["calls"]) for r in rows)), file=all)
print("\n".join(sorted("%s %d" % (r["name"], r["calls"] - r["recursive_calls"]) for r in rows)))' \
			>flat.ours
		gprof -b -q "$program" "$gmon" | python3 normal.py graph >graph.theirs
		report callgraph --tid "$tid" | python3 normal.py graph >graph.ours
		grep -q '^leaf ' flat.theirs || { echo "$program: gprof reports no calls of $gmon"; exit 1; }
		grep -q 'cycle' graph.theirs || { echo "$program: gprof reports no cycle"; exit 1; }
		diff -u flat.theirs flat.ours
		diff -u flat.all flat.text
		diff -u graph.theirs graph.ours
		threads=$((threads + 1))
	done
	[ $threads = 4 ]
	# JSON has the same content as the text.
	report --format json flat | python3 -c '
import json, sys
rows = json.load(sys.stdin)["functions"]
assert sum(r["calls"] for r in rows if r["name"] == "leaf") == 2 * (10 + 20 + 30 + 7), rows
assert len({r["tid"] for r in rows}) == 4'
	report --format json callgraph | python3 -c '
import json, sys
arcs = json.load(sys.stdin)["arcs"]
of = lambda f, t: sum(a["calls"] for a in arcs if (a["from"], a["to"]) == (f, t))
assert of("factorial", "factorial") == 4 * 9, arcs
assert of("work", "shared") == 67 and of("hidden", "leaf") == 134, arcs
assert of("shared", "library") == 67, arcs'
}

"$CC" -pg -g -O0 -c library.c && ar rcs lib.a library.o
compare pie -fPIE -pie
compare fixed -no-pie
compare optimized -O2 -fno-inline -fno-optimize-sibling-calls -fno-ipa-cp -fno-ipa-pure-const
