#!/bin/bash
# SPDX-License-Identifier: MIT
# Timed samples of a program without -pg: each path has the samples of its share of the CPU time, by the program's own
# clocks, in threads, in signal handlers on alternate stacks and in children of fork; the streams have the samples of
# the histograms, less those that are counted as missing. Only calls that a program with -pg makes are counted.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"
need jq babeltrace2

"$CC" -std=gnu17 -D_GNU_SOURCE -Wall -O2 -g -fomit-frame-pointer -o paths "$GM_TOP/tests/sample/programs/paths.c" \
	-pthread || fail "cannot compile"

# record HZ SETTING COMMAND...
record()
{
	local hz=$1 setting=$2
	shift 2
	rm -rf gprof-mt.data
	"$gprof_mt" record -q --set kernel.source=none --set sample.hz="$hz" --set sample.stacks=on --set "$setting" \
		-- "$@" >out || fail "record $*: exit status $?"
	"$gprof_mt" report --format json flat callgraph >report.json || fail "report"
}

# stacks WORD...
stacks()
{
	PYTHONPATH=$GM_TOP/tests/sample/programs python3 "$GM_TOP/tests/sample/programs/stacks.py" "$@" || fail "$*"
}

for how in "" altstack; do
	# shellcheck disable=SC2086 # no word, or one
	record 250 sync.mode=all ./paths 600 2 $how
	stacks shares report.json out
	read -r samples files _ < <(stacks sums gprof-mt.data)
	[[ $samples -gt 0 && $files = 3 ]] || fail "'$how': $samples samples in $files files"
done
"$gprof_mt" report callgraph >text
grep -q "from [0-9]* samples of 4.00 ms of CPU time: the program was not built with -pg" text ||
	{ cat text; fail "callgraph"; }
"$gprof_mt" report flat >text
grep -q "(calls are not counted: not built with -pg)" text || { cat text; fail "flat"; }
jq -e '[.functions[] | select(.calls != null)] | length == 0' report.json >/dev/null ||
	fail "calls of a program without -pg"
[ -z "$(find . -name 'gmon.*')" ] || fail "gmon files of a program without -pg: $(find . -name 'gmon.*')"
"$gprof_mt" report --format json calltree >tree.json || fail "calltree"
jq -e '[.. | .function? // empty] | (index("leaf") != null) and (index("left") != null)' tree.json >/dev/null ||
	fail "calltree: no paths"

# Threads begin unseen by libsync-trace, too.
record 250 sync.mode=off ./paths 400 2
stacks shares report.json out

# Threads one after the other share a stream, and its nodes.
record 250 sync.mode=all ./paths 40 20 after
read -r samples files _ < <(stacks sums gprof-mt.data)
[[ $files -le 2 && $samples -gt 0 ]] || fail "one after the other: $samples samples in $files files"

# A child starts at zero, in its own folder. Its first samples are kept until it has that; one with few samples makes
# none for them, which is no fault.
record 250 sync.mode=all ./paths 400 2 fork
stacks shares report.json out
read -r _ files _ little < <(stacks sums gprof-mt.data)
# Their parent may have been sampled, too.
[[ $files -ge 2 && $files -le 3 && $little = 0 ]] || fail "children: $files files, $little samples without call path"
record 250 sync.mode=all ./paths 12 8 fork
read -r samples files _ little < <(stacks sums gprof-mt.data)
[[ $little -gt 0 && $files -le 1 && $little -ge $((samples - 2 * files)) ]] ||
	fail "children that did little: $samples samples, $little of them without call path, in $files files"
"$gprof_mt" report quality >text
grep -q 'nothing lost, nothing contradictory' text || { cat text; fail "children that did little: losses"; }

# What a thread without a slot misses is counted: the table has no room for it, since files may not grow.
(ulimit -f 44; record 250 sync.mode=all ./paths 20 20 crowd) || exit 1
"$gprof_mt" report --format json quality >report.json || fail "report quality"
missed=$(jq '[.quality[] | select(.what | startswith("samples of unknown threads")) | .count] | add // 0' report.json)
awk -v missed="$missed" 'NR > 1 { n += $2 / 4e6 } END { exit !(missed >= n - 20 && missed <= n + 20) }' out ||
	{ cat out; jq -c '.quality[]' report.json; fail "$missed missed samples of threads without a slot"; }

# Without the setting there are no streams.
rm -rf gprof-mt.data
"$gprof_mt" record -q --set kernel.source=none --set sample.stacks=off -- ./paths 100 0 >out || fail "record"
[ -z "$(find gprof-mt.data -name samples -o -name calls)" ] || fail "sample.stacks=off: $(find gprof-mt.data)"
# Without record, that is the default.
rm -rf gprof-mt.data
LD_PRELOAD=$GM_BUILD/libgmon_mt.so ./paths 100 0 >out || fail "preloaded: exit status $?"
[ -z "$(find gprof-mt.data -name samples -o -name calls)" ] || fail "without record: $(find gprof-mt.data)"
exit 0
