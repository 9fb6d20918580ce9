#!/bin/bash
# SPDX-License-Identifier: MIT
# Reports on many short-lived objects: memory does not depend on their number, and the sums are those of all
# objects. Addresses that are used once need memory up to a limit.
. "$GM_TOP/tests/lib.sh"
need jq python3

"$CC" -O2 -g -o objects "$programs/objects.c" -pthread || fail "cannot compile"
# Without samples: the names of functions take memory in those captures that have any.
few=30000 many=300000
! with_sanitizers || few=1500 many=4000
# All but 1,000 share a row.
shared=$((many - 1000))
name="${shared%???},${shared: -3} mutexes initialized at use_once (objects.c:13)"
for places in 64 $many; do
	for n in $few $many; do
		"$gprof_mt" record -q -o $n.$places --set kernel.source=none --set sync.mode=all --set sample.hz=0 -- \
			./objects $n 10 $places || fail "record"
	done
done

# grows_little PLACES MIB ARG...: with ten times the number of objects, it takes at most MIB more
grows_little()
{
	local small large
	small=$(peak small "$3" -i $few.$1 "${@:4}")
	large=$(peak large "$3" -i $many.$1 "${@:4}")
	echo "${*:3}, at $1 addresses: $((small >> 10)) KiB for $few objects, $((large >> 10)) KiB for $many"
	with_sanitizers || [ "$large" -le $((small + ($2 << 20))) ] || fail "${*:3}: memory depends on the number of objects"
}
for section in locks blame quality critical-path paths; do
	grows_little 64 4 report $section
	grows_little $many 24 report $section
done
grows_little 64 4 report --by suspect blame
grows_little 64 4 report blame-tree
# Two passes of the default sections follow objects: locks, and the finding of summary.
grows_little 64 4 report
grows_little $many 40 report
for kind in wait lock-order precedence; do
	grows_little 64 4 graph --kind $kind
	grows_little $many 24 graph --kind $kind
done
grows_little 64 4 report --format json
grows_little 64 6 history --format json
grows_little 64 4 history

for places in 64 $many; do
	"$gprof_mt" report -i $many.$places --format json locks sync >report.json || fail "report"
	jq -e --argjson n $many --arg name "$name" '
		(.locks | map(.objects) | add) == $n + 1
		and (.locks | map(.acquired) | add) == $n + 10
		and (.locks | map(.sites[].calls) | add) == $n + 10
		and (.locks | map(.hold_ns) | add) == (.locks | map(.sites[].hold_ns) | add)
		and ([.sync[] | select(.function == "pthread_mutex_lock").calls] | add) == $n + 10
		and (.locks | length) == 1002
		and ([.locks[] | select(.objects > 1)] | length) == 1
		and ([.locks[] | select(.objects > 1) | [.name, .group, .object, .generation, .objects]]
			== [[$name, "mutex at use_once (objects.c:13)", null, null, $n - 1000]])' report.json >out ||
		fail "sums at $places addresses: $(jq -c '.locks[:3]' report.json)"
done
"$gprof_mt" report -i $many.64 locks >text || fail "report"
grep -q "^ *- *mutex *$name " text || fail "$(head text)"
grep -q "$shared objects no longer existed at the end and share 1 row" text || fail "$(tail -n 3 text)"

# A folded object is still found by its call site.
"$gprof_mt" report -i $many.64 --format json --object "mutex at use_once (objects.c:13)" locks sync >report.json ||
	fail "--object"
jq -e --argjson n $many '(.locks | map(.objects) | add) == $n and (.locks | map(.acquired) | add) == $n
	and ([.sync[] | select(.function == "pthread_mutex_lock").calls] | add) == $n' report.json >out ||
	fail "--object NAME: $(jq -c '.locks[:3], .sync' report.json)"

# The critical path adds up those with the shortest holds; each row counts its objects.  A hold may be shorter than the
# clock can tell, and the path may lead elsewhere for an instant.
"$gprof_mt" report -i $many.64 --format json critical-path >report.json || fail "critical-path"
jq -e --argjson n $((many - 1000)) '
	[.critical_objects[] | select(.generation == null) | .name] as $names
	| ($names | length) == 1
	and ($names[0] | endswith(" mutexes initialized at use_once (objects.c:13)"))
	and ($names[0] | split(" ")[0] | gsub(","; "") | tonumber | . <= $n and . > 0.8 * $n)
	and (.critical_objects | length) >= 1001
	and ([.critical_objects[].held_ns] | add) <= ([.critical_threads[].path_ns] | add)' report.json >out ||
	fail "critical path: $(jq -c '.critical_objects[:2], (.critical_objects | length)' report.json)"

# Exports.
grows_little 64 4 export -q --format perfetto -o out.pftrace
grows_little $many 24 export -q --format perfetto -o out.pftrace

# The index of the page is in files, so private memory does not depend on the number of objects.
(with_sanitizers || ulimit -d $((96 << 10))
	"$gprof_mt" export -q -i $many.64 --format html -o page.html) || fail "html"

# A thread waits for each object. Those with the least waits share a stack; the sum is that of the waits.
"$CC" -O2 -g -o awaited "$programs/objects_awaited.c" -pthread || fail "cannot compile"
few=20000 many=100000
! with_sanitizers || few=1000 many=2000
for n in $few $many; do
	"$gprof_mt" record -q -o $n.awaited --set kernel.source=none --set sync.mode=all --set sample.hz=0 -- ./awaited $n || fail "record"
done
for export in "folded --what off-cpu" "folded --what off-wake" pprof perfetto; do
	# shellcheck disable=SC2086 # the words are split on purpose
	grows_little awaited 8 export -q -o out --format $export
done
"$gprof_mt" export -q -i $many.awaited --format folded --what off-cpu -o stacks || fail "folded"
"$gprof_mt" report -i $many.awaited --format json locks >report.json || fail "locks"
same "waits in the stacks" "$(jq '[.locks[] | select(.type == "mutex").wait_ns] | add' report.json)" \
	"$(grep ';pthread_mutex_lock;' stacks | awk '{ sum += $NF } END { printf "%.0f", sum }')"
with_sanitizers || grep -q ';[0-9,]* mutexes initialized at use_once (objects_awaited.c:[0-9]*) [0-9]*$' stacks ||
	fail "no stack for several objects: $(head -n 3 stacks)"
