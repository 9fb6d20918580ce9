#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures call paths: a further frame, a path of 15 frames, and a frame whose rule is not in the cache, compared
# with libunwind and glibc in the same process. The minimum of ROUNDS (default 3) runs counts.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget (in ns), verdict.
set -eu

bench=$GM_BUILD/tests/bench/bench_unwind
[ -e "$bench" ] || { echo "libunwind is not installed" >&2; exit 1; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for _ in $(seq "${ROUNDS:-3}"); do
	"$bench" >>"$dir/all"
done

least()
{
	awk -v name="$1" '$1 == name' "$dir/all" | sort -k 2g | awk 'NR == 1 { print $2 }'
}

# row WHAT PEER PEER_NS OUR_NS BUDGET_NS
row()
{
	awk -v what="$1" -v peer="$2" -v p="$3" -v o="$4" -v b="$5" 'BEGIN {
		printf "%s\t%s\t%s\t%s\tns\t%s\t%s\t%s\n", what, peer, p, o, p == "-" ? p : sprintf("%.3f", o / p), b,
			o <= b ? "pass" : "miss" }'
}

for peer in libunwind glibc; do
	row "a further frame of a call path" "$peer" "$(least $peer-frame)" "$(least ours-frame)" 10
	row "a call path of 15 frames" "$peer" "$(least $peer-15)" "$(least ours-15)" 200
done
row "a frame that is new" "-" - "$(least ours-cold)" 2000
