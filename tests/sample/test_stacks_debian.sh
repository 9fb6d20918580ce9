#!/bin/bash
# SPDX-License-Identifier: MIT
# A program of Debian without -pg, debug information and frame pointers has a profile with callers from timed samples,
# by default, and record says so; its output and exit status are the same.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"
need jq babeltrace2 xz

# Text that takes xz a second or so.
seq 1 400000 >input
xz -T1 -6 -k -c input >plain.xz || fail "xz"
"$gprof_mt" record --set kernel.source=none --set sample.hz=250 -- xz -T1 -6 -k -c input >sampled.xz 2>err ||
	fail "exit status $?"
cmp plain.xz sampled.xz || fail "another output"
grep -q 'no counts of calls, a profile from samples: .*xz was not built with -pg' err &&
	grep -q ' 1 thread; [0-9]* samples, ' err && grep -q 'next: gprof-mt report flat$' err ||
	{ cat err; fail "record does not say that the profile is from samples"; }
"$gprof_mt" report --format json flat callgraph quality >report.json || fail "report"
n=$(jq '[.functions[].samples] | add' report.json)
[ "$n" -ge 20 ] || fail "only $n samples"
# liblzma exports lzma_code(), which xz calls, and which calls all that takes time.
jq -e --argjson n "$n" '[.arcs[] | select(.to == "lzma_code") | .samples] | add > 0.8 * $n' report.json >/dev/null ||
	{ jq -c '.arcs[]' report.json | head -50; fail "lzma_code() and its callers have not most of $n samples"; }
# Paths are complete up to _start.
jq -e --argjson n "$n" '[.path_ends[]?.samples] | (add // 0) < 0.02 * $n + 1' report.json >/dev/null ||
	{ jq -c '.path_ends' report.json; fail "paths that end early"; }
PYTHONPATH=$GM_TOP/tests/sample/programs python3 "$GM_TOP/tests/sample/programs/stacks.py" sums gprof-mt.data ||
	fail "sums"
"$gprof_mt" export -q --format folded --what samples -o folded || fail "export"
grep -q 'lzma_code;' folded || { head folded; fail "folded stacks"; }
exit 0
