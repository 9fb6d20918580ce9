#!/bin/bash
# SPDX-License-Identifier: MIT
# Libraries are loaded and unloaded at each other's addresses in two threads at once, in a program that also
# forks: its behavior does not change, and the report has all operations of each library.
. "$GM_TOP/tests/sync/common.sh"
rounds=40 libraries=8

# The libraries have different sizes, so that one overlaps the former addresses of several others.
for ((i = 0; i < libraries; i++)); do
	{ cat "$programs/unload.c"; echo "char padding_${i}[$((i / 2 * 5000 + 1))];"; } >p$i.c
	$CC -std=gnu17 -O1 -g -fPIC -shared -pthread -DNAME=p$i -o p$i.so p$i.c || fail "cannot compile p$i.so"
done
build unload

# LTTng is not tested, since it calls dlopen() in the child of a fork.
for how in 'mode = all' 'paths = 1ns' 'include = unload,p*.so'; do
	printf '[sync]\n%s\n' "$how" >config
	GPROF_MT_CONFIG=config traced timeout 100 ./unload $rounds $libraries >out 2>err
	[ $? -eq 3 ] && [ "$(cat out)" = over ] || { cat out err; fail "the program's result changes with $how"; }
	[ ! -s err ] || fail "with $how: $(cat err)"
	"$gprof_mt" history --format json >history.json || fail history
	python3 - "$how" $rounds $libraries <<-'END' || exit 1
		import collections, json, sys
		rounds, libraries = map(int, sys.argv[2:])
		wanted = collections.Counter()
		for i in range(libraries):
		    times = 2 * (rounds + 1)
		    for function in "come", "use", "go":
		        wanted["p%d" % i, "p%d_%s" % (i, function)] = times
		got = collections.Counter()
		for o in json.load(open("history.json"))["objects"]:
		    if o["type"] != "mutex" or not o["name"].startswith("p"):
		        continue
		    for op in o["ops"]:
		        got[o["name"].split("_mutex")[0], op["site"].split(" ")[0]] += 1
		    # Each load of a library is a generation.
		    assert len(o["ops"]) == 6, o
		assert got == wanted, (sys.argv[1], got - wanted, wanted - got)
	END
done
