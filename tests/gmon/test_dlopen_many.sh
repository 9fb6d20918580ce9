#!/bin/bash
# SPDX-License-Identifier: MIT
# A program loads hundreds of libraries, each at the address of the one before, as programs with run-time
# compilation do: no call is attributed to another library.
. "$GM_TOP/tests/gmon/common.sh"
[ -x "$GM_BUILD/gprof-mt" ] || skip "gprof-mt is not built"

for name in one two three; do
	compile_pg -fPIC -shared -DNAME=$name -o $name.so many_plugins.c
done
build_pg many_plugins
for ((i = 0; i < 540; i += 3)); do
	ln one.so $i.so
	ln two.so $((i + 1)).so
	ln three.so $((i + 2)).so
done
fresh ./many_plugins 540 || fail "exit status $?"
same "lost" 0 "$(lost "$(folder)")"
same "calls" "called 5400
one 1800
three 1800
two 1800" "$("$GM_BUILD/gprof-mt" report --format json flat | python3 -c '
import collections, json, sys
n = collections.Counter()
for f in json.load(sys.stdin)["functions"]:
    n[f["name"]] += f["calls"] or 0
for name in sorted(n):
    if n[name] > 0 and name != "main":
        print(name, n[name])')"

# gprof reads a gmon file of each library, for the thread and for all threads.
cd "$(folder)" || fail "no folder"
for files in 'gmon.[0-9]*.[0-9]*.*.so' 'gmon.merged.*.so'; do
	# shellcheck disable=SC2086 # expanded as a pattern
	set -- $files
	same "$files" 540 $#
	for file in "$1" "$2" "${64}" "${65}" "${66}" "${539}" "${540}"; do
		plugin=${file%.so}
		plugin=../../${plugin##*.}.so
		same "calls in $file" 20 "$(flat "$plugin" "$file" | awk '{ n += $2 } END { print n }')"
	done
done
exit 0
