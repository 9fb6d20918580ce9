# SPDX-License-Identifier: MIT
# Functions that the benchmarks of counting and recording calls share.
# shellcheck shell=bash

# least FILE VALUE: keeps the smaller of the two in FILE
least()
{
	[ -e "$1" ] && [ "$(printf '%s\n' "$2" "$(cat "$1")" | sort -g | head -n 1)" != "$2" ] ||
		echo "$2" >"$1"
}

# row WHAT PEER PEER_NS OUR_NS BUDGET: prints a row; the values are differences to the unprofiled program
row()
{
	awk -v what="$1" -v peer="$2" -v p="$3" -v o="$4" -v b="$5" 'BEGIN {
		printf "%s\t%s\t%s\t%.2f\tns\t%s\t%s\t%s\n", what, peer, p == "-" ? p : sprintf("%.2f", p),
			o, p == "-" || p <= 0 ? "-" : sprintf("%.3f", o / p), b,
			o <= b ? "pass" : "miss" }'
}

over()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a - b }'
}
