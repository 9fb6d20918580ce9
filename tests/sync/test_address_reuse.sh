#!/bin/bash
# SPDX-License-Identifier: MIT
# Libraries that are loaded at the same addresses one after the other: everything that reports synchronization
# shows the functions, mutexes and lines of the right library, and none of them for objects that the program
# places at these addresses in between.
. "$GM_TOP/tests/sync/common.sh"
source=$programs/address_reuse.c
frames='-fno-omit-frame-pointer'

# The second library has other lines, and is otherwise the same.
cp "$source" one.c
{ yes '' | head -n 1000; cat "$source"; } >two.c

# make_all FLAG...: builds the program and both libraries
make_all()
{
	local name
	for name in one two; do
		$CC -std=gnu17 -O1 -g $frames "$@" -fPIC -shared -pthread -DNAME=$name -o $name.so $name.c ||
			fail "cannot compile $name.so"
	done
	build address_reuse -O1 $frames "$@"
}

cat >check.py <<'END'
import collections, json, subprocess, sys

what, gprof_mt, heap, mutex, rounds = sys.argv[1:5] + [int(sys.argv[5])]

def ask(*words):
    ran = subprocess.run([gprof_mt, *words], capture_output=True)
    assert ran.returncode == 0, (words, ran)
    out = ran.stdout
    return json.loads(out) if "json" in words else out.decode(errors="replace")

def check(got, wanted, of):
    assert got == wanted, "%s, %s:\n%s\nnot\n%s" % (what, of, got, wanted)

def line(function, in_library):
    text = open("one.c").read().splitlines()
    for number, at in enumerate(text):
        if "JOIN(NAME, _%s)(void " % function in at and not at.endswith(";"):
            return number + 3 + in_library
names, begins = ["one", "two"] * rounds, {"one": 0, "two": 1000}
# The wrappers _enter() and _leave() are called there.
lock = {n: "%s_use (%s.c:%d)" % (n, n, line("use", begins[n])) for n in begins}
unlock = {n: "%s_use (%s.c:%d)" % (n, n, line("use", begins[n]) + 2) for n in begins}
kinds = []
for name in names:
    kinds += [name] + (["heap"] if heap == "heap" else [])

# Each library has its own generation, in order, with its own mutex, function and line.
history = [o for o in ask("history", "--format", "json")["objects"] if o["object"] == mutex]
history.sort(key=lambda o: o["generation"])
check([o["generation"] for o in history], list(range(1, len(kinds) + 1)), "generations")
for o, kind in zip(history, kinds):
    sites = [(op["op"], op["site"]) for op in o["ops"]]
    suffix = " #%d" % o["generation"] if o["generation"] > 1 else ""
    if kind == "heap":
        assert o["name"].startswith("mutex at use_heap (address_reuse.c:"), o["name"]
        check(len(sites), 2, "operations of the program's own")
        continue
    check(o["name"], kind + "_mutex" + suffix, "history")
    check(sites, [("mutex_lock", lock[kind]), ("mutex_unlock", unlock[kind])] * 2, "history")

locks = [o for o in ask("report", "--format", "json", "locks")["locks"] if o["object"] == mutex]
check(sorted(o["name"] for o in locks), sorted(o["name"] for o in history), "locks")
for o in locks:
    kind = o["name"][:3]
    if kind not in begins:
        continue
    check((o["acquired"], o["contended"], o["group"]), (2, 1, kind + "_mutex"), "locks")
    check([s["site"] for s in o["sites"]], [lock[kind]], "locks' sites")
    check([(h["site"], h["contended"]) for s in o["sites"] for h in s["holders"]], [(lock[kind], 1)], "holders")

paths = collections.Counter()
for path in ask("report", "--format", "json", "paths")["paths"]:
    if path["object"] == mutex:
        sites = [f["site"].split(" ")[0] for f in path["frames"]]
        assert all(int(f["address"], 16) < 1 << 47 for f in path["frames"]), path
        paths[path["group"], path["function"], *sites[:2]] += path["calls"]
check(paths, collections.Counter({(n + "_mutex", f, n + g, n + "_use"): rounds * k for n in begins
      for f, g, k in (("pthread_mutex_lock", "_enter", 1), ("pthread_mutex_unlock", "_leave", 2))}), "paths")

waits = collections.Counter()
for edge in ask("graph", "--kind", "wait", "--format", "json")["edges"]:
    for wait in edge["waits"]:
        if wait["object"] == mutex:
            waits[wait["group"], wait["site"], wait["other_site"]] += wait["count"]
check(waits, collections.Counter({(n + "_mutex", lock[n], lock[n]): rounds for n in begins}), "graph")

threads = collections.Counter(t["group"] for t in ask("report", "--format", "json", "threads")["threads"])
check({n: threads[n + "_run"] for n in begins}, {n: rounds for n in begins}, "threads")

# The other outputs are searched for the names.
check(ask("report", "--format", "json", "quality")["quality"], [], "quality")
ask("export", "--format", "perfetto", "-o", "exported")
text = open("exported", "rb").read().decode(errors="replace")
for n in begins:
    for word in lock[n], unlock[n], n + "_mutex":
        assert word in text, "%s: perfetto lacks %s" % (what, word)
for folded in "off-cpu", "off-wake":
    text = ask("export", "--format", "folded", "--what", folded, "-o", "-")
    for n in begins:
        assert n + "_use;" + n + "_enter" in text, (what, folded, text)
        other = "two" if n == "one" else "one"
        assert not any(n + "_" in l and other + "_" in l for l in text.splitlines()), (what, folded, text)
END

# record HOW ROUNDS [FLAG of record...]
record()
{
	local how=$1 rounds=$2 status
	shift 2
	rm -rf gprof-mt.data
	# The unload of a library with samples is recorded by libgmon-mt, too.
	("$gprof_mt" record -q --set kernel.source=none --set sync.paths=1ns --set sample.hz=0 "$@" -- \
		./address_reuse "$how" "$rounds" one two >places; exit $?) 2>err
	status=$?
	[ $status = "$([ "$how" = kill ] && echo 137 || echo 0)" ] || fail "$how: status $status: $(cat places err)"
	[ "$(sort -u places | wc -l)" = 1 ] || skip "the loader does not reuse addresses"
}

# check HOW ROUNDS [FLAG of record...]
check()
{
	local how=$1 rounds=$2 mutex
	record "$@"
	read -r mutex _ <places
	python3 check.py "$how, $made" "$gprof_mt" "$how" "$mutex" "$rounds" || exit 1
	# The page must agree with the reports, if this build has the page.
	if [ "$how $rounds" = "end 3" ] && "$gprof_mt" export --format html -o page 2>/dev/null; then
		python3 "$GM_TOP/tests/export/programs/html/check.py" "$gprof_mt" gprof-mt.data page >out ||
			fail "$how: page: $(cat out)"
	fi
	# Modules that remain loaded, and those from program start, must not be recorded as unloaded.
	awk '$2 == "load" && length($3) > 12 { print $NF }' gprof-mt.data/*/maps | sort | uniq -c >gone
	! grep -Ev '/(one|two).so$' gone || fail "$how: modules other than the plugins are recorded as unloaded"
	[ "$how" != keep ] || awk -v rounds="$rounds" '{ n[$2 ~ /two/] += $1 }
		END { exit n[0] == 0 || n[1] * rounds != n[0] * (rounds - 1) }' gone ||
		fail "libraries that stay loaded: $(cat gone)"
}

for made in '' -no-pie -pg; do
	make_all $made
	check end 1
	check end 3
	check keep 2
	check kill 2
	check heap 2

	# A held mutex belongs to the library whose code unlocks it.
	record outside 2
	read -r mutex _ <places
	"$gprof_mt" history --object "$mutex" --order object | sed -nE 's/^mutex ([^(]*) \(.*/\1:/p; s/.* (mutex_[a-z]*) .* ([a-z_]+) \(.*/\1 \2/p' >uses
	[ "$(xargs <uses)" = "$(for life in one_mutex 'two_mutex #2' 'one_mutex #3' 'two_mutex #4'; do
		echo "$life: mutex_lock main mutex_unlock ${life%%_*}_leave"
	done | xargs)" ] || fail "outside: $(cat uses)"

	# A library that only calls locking functions of others appears only in call paths.
	record call 2
	"$gprof_mt" report --format csv paths | grep -o 'hold_shared < [a-z_]*' | sort | uniq >callers
	[ "$(awk '{ print $NF }' callers | xargs)" = 'one_call two_call' ] || fail "call: $(cat callers)"
done
check end 2 --set calls.mode=history
GPROF_MT_READER=babeltrace check end 2
