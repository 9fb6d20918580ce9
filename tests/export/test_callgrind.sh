#!/bin/bash
# SPDX-License-Identifier: MIT
# callgrind_annotate reads the exported file: the same calls, CPU time and callers as in the reports, for all
# threads and for one, at the right source lines.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"
need jq callgrind_annotate

cat >check.py <<'END'
import collections, json, re, sys

flat, edges, annotated, tid = json.load(open("functions")), json.load(open("edges")), open("annotated").read(), sys.argv[1]
has_times = any(f["samples"] is not None for f in flat["functions"])

def number(text):
    return 0 if text == "." else int(text.replace(",", ""))

def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {sorted(got.items() ^ want.items())[:10]}")

# "1,234 (5.6%) 789 (1.0%)  *  FILE:name [OBJECT]" has self costs; "> FILE:name (12x) [OBJECT]" follows a
# caller. Functions with the same name are added up, whatever their file.
cost = r"([\d,.]+)(?: \([ \d.]+%\))?"
line = re.compile(rf"^\s*{cost}\s+" + (rf"{cost}\s+" if has_times else "()") + r"([*<>])?\s*(?:\?\?\?|[^ :]*):(.*)$")
functions, calls, caller = collections.defaultdict(lambda: (0, 0)), collections.Counter(), None
for text in annotated.splitlines():
    found = line.match(text)
    if not found:
        continue
    count, ns, mark, name = found.groups()
    if mark == "*":
        caller = re.sub(r" \[[^][]*\]$", "", name)
        functions[caller] = tuple(map(sum, zip(functions[caller], (number(count), number(ns or "0")))))
    elif mark == ">":
        callee, times = re.fullmatch(r"(.*) \(([\d,]+)x\)(?: \[.*\])?", name).groups()
        calls[caller, callee] += number(times)

want = collections.defaultdict(lambda: [0, 0])
for row in flat["functions"]:
    want[row["name"]][0] += row["calls"] or 0
    want[row["name"]][1] += (row["samples"] or 0) * (row["sample_period_ns"] or 0)
used = {n: tuple(v) for n, v in want.items() if any(v)}
same("functions", {n: v for n, v in functions.items() if any(v)}, used)
if not any(v[0] for v in used.values()):
    sys.exit("no function was called")

name_of = {node["id"]: node["name"] for node in edges["nodes"]}
arcs = collections.Counter()
for edge in edges["edges"]:
    arcs[name_of[edge["from"]], name_of[edge["to"]]] += edge["count"]
same("callers", dict(calls), dict(arcs))
END

# annotate OPTION...: runs in another directory, since it removes the current one from some names only
annotate()
{
	local profile=$PWD/callgrind.out.gprof-mt
	(cd / && callgrind_annotate --threshold=100 "$@" "$profile")
}

# compare [SELECTION...]
compare()
{
	"$gprof_mt" report --format json "$@" flat >functions || fail "flat"
	"$gprof_mt" graph --kind calls --format json "$@" >edges || fail "graph"
	"$gprof_mt" export --format callgrind "$@" 2>err || fail "export: $(cat err)"
	annotate --auto=no --tree=calling >annotated 2>err ||
		fail "callgrind_annotate: $(cat err)"
	[ ! -s err ] || fail "callgrind_annotate prints: $(cat err)"
	python3 check.py "${2:-}" || fail "$*: $(cat annotated)"
}

# lines: prints "self OBJECT FILE LINE FUNCTION CALLS", "time OBJECT FILE LINE FUNCTION NS" and "call OBJECT
# FILE LINE FUNCTION CALLS OBJECT FILE LINE FUNCTION" of the profile; files without directories
cat >lines.py <<'END'
import os, re

kinds = {"ob": "ob", "fl": "fl", "fi": "fl", "fn": "fn", "cob": "ob", "cfi": "fl", "cfn": "fn"}
places = {"fl": "file", "fi": "file"}
names, at, calls = {}, {}, None
for text in open("callgrind.out.gprof-mt"):
    named = re.match(r"(\w+)=\((\d+)\)(?: (.*))?$", text)
    if named:
        key, number, name = named.groups()
        number = kinds[key], number
        assert (name is None) == (number in names), text
        name = names.setdefault(number, name)
        at[places.get(key, key)] = name if key.endswith("fn") else os.path.basename(name)
    elif text.startswith("calls="):
        calls = text[6:].split()
    elif re.match(r"\d+ ", text):
        line, *costs = text.split()
        where = at["ob"], at["file"], line, at["fn"]
        if calls:
            assert [calls[0]] == costs, text
            print("call", *where, *costs, at["cob"], at.pop("cfi", at["file"]), calls[1], at["cfn"])
            calls = None
            continue
        print("self", *where, costs[0])
        if costs[1:]:
            print("time", *where, costs[1])
END

# line_of FILE TEXT: prints the number of the line with that comment
line_of()
{
	grep -n "/\* $2 \*/" "$1" | cut -d : -f 1
}

# has LINE: lines.py printed that line
has()
{
	grep -qxF "$1" lines || fail "expected \"$1\" in: $(cat lines)"
}

# Two functions with the same name, a library, and inlined code: from another file and from the same.
cat >library.c <<'END'
void in_library(void) { } /* in_library */
END
cat >other.c <<'END'
__attribute__((noinline, noipa)) static void same(void) { } /* the other */
__attribute__((noinline, noipa)) void other(void)
{ /* other */
	same(); /* other calls */
}
END
cat >inlined.c <<'END'
static inline __attribute__((always_inline)) void inlined(void)
{
	leaf(); /* inlined calls */
}
END
cat >main.c <<'END'
void other(void);
void in_library(void);
__attribute__((noinline, noipa)) void leaf(void) { } /* leaf */
#include "inlined.c"
__attribute__((noinline, noipa)) static void same(void) { } /* the one */
__attribute__((always_inline)) static inline void here(void)
{
	same(); /* here calls */
}
__attribute__((noinline, noipa)) void many(void)
{ /* many */
	for (int i = 0; i < 3; i++)
		leaf(); /* many calls */
	leaf(); leaf(); /* twice */
	inlined();
	here();
	in_library(); /* out */
	other(); /* away */
}
int main(void)
{
	many(); /* main calls */
	return 0;
}
END
"$CC" -std=gnu17 -O1 -g -pg -fPIC -shared -o libaway.so library.c || fail "cannot compile the library"
"$CC" -std=gnu17 -O1 -g -pg -o lines_of main.c other.c -L. -laway -Wl,-rpath,"$PWD" "${link[@]}" ||
	fail "cannot compile lines_of"
"$gprof_mt" record -q --set kernel.source=none --set sample.hz=0 -- ./lines_of || fail "lines_of: exit status $?"
compare
python3 lines.py >lines || fail "no profile: $(cat callgrind.out.gprof-mt)"
leaf="$(line_of main.c leaf) leaf"
one="$(line_of main.c 'the one') same"
other="$(line_of other.c 'the other') same"
away="$(line_of other.c other) other"
library="libaway.so library.c $(line_of library.c in_library) in_library"
many="$(line_of main.c many) many"
has "self lines_of main.c $many 1"
has "self lines_of main.c $leaf 6"
has "self lines_of main.c $one 1"
has "self lines_of other.c $other 1"
has "self lines_of other.c $away 1"
has "self $library 1"
has "call lines_of main.c $(line_of main.c 'main calls') main 1 lines_of main.c $many"
has "call lines_of main.c $(line_of main.c 'many calls') many 3 lines_of main.c $leaf"
has "call lines_of main.c $(line_of main.c twice) many 2 lines_of main.c $leaf"
has "call lines_of inlined.c $(line_of inlined.c 'inlined calls') many 1 lines_of main.c $leaf"
has "call lines_of main.c $(line_of main.c 'here calls') many 1 lines_of main.c $one"
has "call lines_of main.c $(line_of main.c out) many 1 $library"
has "call lines_of main.c $(line_of main.c away) many 1 lines_of other.c $away"
has "call lines_of other.c $(line_of other.c 'other calls') other 1 lines_of other.c $other"
# The annotated source has the count below the line.
annotate --auto=yes >annotated 2>err || fail "--auto=yes"
[ ! -s err ] || fail "with the source, callgrind_annotate prints: $(cat err)"
grep -A 1 '/\* many calls \*/' annotated | tail -n 1 | grep -q '=> .*/main.c:leaf (3x)' || fail "no source: $(cat annotated)"
rm -rf gprof-mt.data

build_pg ratio -falign-functions=64
"$gprof_mt" record -q --set kernel.source=none --set sample.hz=250 -- ./ratio 200 2 >out ||
	fail "ratio: exit status $?"
compare
grep -qx 'cmd: ./ratio 200 2' callgrind.out.gprof-mt || fail "not the command: $(grep cmd callgrind.out.gprof-mt)"
# Nearly all of a function's time is at the lines of its loop.
python3 lines.py >lines || fail "no profile: $(cat callgrind.out.gprof-mt)"
loop=$(grep -n 'sink += i \* i' "$programs/ratio.c" | head -n 1 | cut -d : -f 1)
awk -v loop="$loop" '$1 == "time" && $5 == "a" { ns += $6; if ($3 == "ratio.c" && $4 >= loop - 1 && $4 <= loop) there += $6 }
	END { exit !(there > 0 && there >= ns * 9 / 10) }' lines || fail "expected 90 % of the time at the loop's lines $loop: $(cat lines)"
compare --tid "$(jq '[.functions[] | select(.calls)][0].tid' functions)"

# A thread that makes no counted call has samples, too.
cat >uncounted.c <<'C'
#include <pthread.h>
static void *call(void *arg)
{
	return arg;
}
__attribute__((no_instrument_function)) int main(void)
{
	volatile long n = 0;
	pthread_t thread;

	pthread_create(&thread, 0, call, 0);
	pthread_join(thread, 0);
	while (n < 300000000)
		n = n + 1;
	return 0;
}
C
"$CC" -O1 -g -pthread -pg -o uncounted uncounted.c "${link[@]}" || fail "cannot compile uncounted.c"
rm -rf gprof-mt.data
"$gprof_mt" record -q --set kernel.source=none --set sample.hz=250 -- ./uncounted || fail "uncounted: exit status $?"
compare
grep -q 'fn=([0-9]*) main' callgrind.out.gprof-mt || fail "no samples of main: $(cat callgrind.out.gprof-mt)"

# Without samples the file has no such event, rather than zeros.
rm -rf gprof-mt.data
"$gprof_mt" record -q --set kernel.source=none --set sample.hz=0 -- ./ratio 20 1 >out ||
	fail "no samples: exit status $?"
compare
grep -qx 'events: Calls' callgrind.out.gprof-mt || fail "events: $(cat callgrind.out.gprof-mt)"
exit 0
