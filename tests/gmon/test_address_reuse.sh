#!/bin/bash
# SPDX-License-Identifier: MIT
# A library is unloaded and another is loaded at its address: each has its own calls, in every thread, over
# many rounds, and the tables do not grow.
. "$GM_TOP/tests/gmon/common.sh"

for name in one two; do
	compile_pg -fPIC -shared -DNAME=$name -o $name.so address_reuse.c
done
# Without start files nothing of the library's is called when it is unloaded.
compile_pg -fPIC -shared -nostartfiles -DNAME=bare -o bare.so address_reuse.c
compile_pg -fPIC -shared -nostartfiles -DNAME=naked -DPADDING -o naked.so address_reuse.c
build_pg address_reuse

# check WHAT END ROUNDS NAME NAME
check()
{
	local what=$1 how=$2 rounds=$3 calls dir status
	shift 3
	fresh ./address_reuse "$how" "$rounds" "$@" >reused
	status=$?
	same "$what: exit status" "$([ "$how" = kill ] && echo 137 || echo 0)" $status
	[ "$(cat reused)" -gt 0 ] || skip "the loader never reuses an address"
	dir=$(folder)
	calls=$(calls "$dir" | awk '{ n[$2] += $3 } END { for (f in n) print f, n[f] }' | sort)
	same "$what" "$(printf '%s\n' "back $((6 * rounds))" "call_it $((6 * rounds))" \
		"lives_as_long $((2 * rounds))" "lives_on 1" "main 1" \
		"${1}_inner $((6 * rounds))" "${1}_outer $((3 * rounds))" \
		"${2}_inner $((6 * rounds))" "${2}_outer $((3 * rounds))" "use $((2 * rounds))" | sort)" \
		"$calls"
	same "$what: report" "$calls" "$("$GM_BUILD/gprof-mt" report --format json flat | python3 -c '
import collections, json, sys
n = collections.Counter()
for f in json.load(sys.stdin)["functions"]:
    if f["calls"] is not None:
        n[f["name"]] += f["calls"]
for f in sorted(n):
    print(f, n[f])')"
	same "$what: lost" 0 "$(lost "$dir")"
	same "$what: back is called by both" "$(printf '%s\n' "$1_outer $((3 * rounds))" \
		"$2_outer $((3 * rounds))" | sort)" "$(calls --arcs "$dir" |
		awk '$3 == "back" { n[$2] += $4 } END { for (f in n) print f, n[f] }' | sort)"
	[ "$how" = kill ] && return
	for name in "$@"; do
		same "$what: gmon.merged.$name.so" "${name}_inner $((6 * rounds))
${name}_outer $((3 * rounds))" "$(flat "$name.so" "$dir/gmon.merged.$name.so")"
	done
}

check "two plugins" end 1 one two
size=$(stat -c %s "$(folder)/calls")
check "two plugins, many rounds" end 60 one two
# Meanwhile 118 more threads started and ended, each with a dense table.
[ "$(stat -c %s "$(folder)/calls")" -le $((size + 128 * 1024)) ] ||
	fail "the tables grow: from $size to $(stat -c %s "$(folder)/calls") bytes"
check "killed" kill 2 one two
check "killed in the first's place" kill 2 two one
check "without start files" end 20 bare naked

# The histories of calls distinguish them too.
printf '[calls]\nmode = history\n' >gprof-mt.conf
for how in end kill; do
	fresh ./address_reuse $how 3 one two >reused
	[ "$(cat reused)" -gt 0 ] || skip "the loader never reuses an address"
	for tid in $("$GM_BUILD/gprof-mt" report --format json threads | python3 -c '
import json, sys
print(*(t["tid"] for t in json.load(sys.stdin)["threads"]))'); do
		"$GM_BUILD/gprof-mt" history --calls --tid "$tid"
	done | awk '{ n[$NF]++ } END { for (f in n) if (f ~ /^(one|two)_|^back$/) print f, n[f] }' |
		sort >names
	same "histories, $how" "back 18
one_inner 18
one_outer 9
two_inner 18
two_outer 9" "$(cat names)"
done
exit 0
