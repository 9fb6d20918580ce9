#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures `export --format html` on a capture with 10 M synch-events of 50 threads on 200 locks at 32 call sites, with
# 250,000 waits: the size of the page against the limit, and the CPU time of the export against that of `report` with
# all its default sections.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

limit=10000000 # bytes
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
. "$GM_TOP/tests/bench/timed.sh"

"${CC:-gcc}" -std=gnu17 -O1 -g -pthread -o bench_page "$GM_TOP/tests/bench/bench_page.c"
"$GM_BUILD/gprof-mt" record -q -o capture --set sync.mode=all -- ./bench_page 50 200 100000
timed report "$GM_BUILD/gprof-mt" report -i capture
timed export "$GM_BUILD/gprof-mt" export -i capture --format html -o page
awk -v size="$(stat -c %s page)" -v limit=$limit -v report="$(cat report)" -v page="$(cat export)" 'BEGIN {
	printf "page of 10 M synch-events\tlimit\t%.1f\t%.1f\tMB\t%.3f\t1\t%s\n", limit / 1e6, size / 1e6,
		size / limit, size <= limit ? "pass" : "miss"
	printf "writing the page\treport, all sections\t%.1f\t%.1f\ts\t%.1f\t-\t-\n", report, page, page / report }'
