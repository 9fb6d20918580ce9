#!/bin/bash
# SPDX-License-Identifier: MIT
# A lock acquired at 20,000 call sites costs the reports at most 3.5 times the instructions that it costs
# with 1,000 sites and the same number of operations; each site has its figures.
. "$GM_TOP/tests/lib.sh"
need valgrind
OPERATIONS=50000

# instructions SITES: counts those of the sections with figures by call site. A sanitized build does not run
# under valgrind: only its figures are checked.
instructions()
{
	"$GM_BUILD/tests/ctf/make_capture" "$1" 4 $((2 * OPERATIONS)) "$1" || fail "no capture of $1 sites"
	if with_sanitizers; then
		"$gprof_mt" report -i "$1" --format json locks sync switches critical-path >"$1.json"
		return
	fi
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$GM_BUILD/gprof-mt" report -i "$1" \
		--format json locks sync switches critical-path 2>&1 >"$1.json" | sed -n 's/.*Collected : //p'
}

# There are also 20 times as many rows to print.
few=$(instructions 1000)
many=$(instructions 20000)
echo "$few instructions with 1000 call sites, $many with 20000"
if ! with_sanitizers; then
	[ "${few:-0}" -gt 0 ] && [ "${many:-0}" -gt 0 ] || fail "callgrind did not count"
	[ $((2 * many)) -le $((7 * few)) ] || fail "expected at most 3.5 times the instructions: $few, $many"
fi

for sites in 1000 20000; do
	jq -e --argjson n $sites --slurpfile all $sites.json -n '
		$all[0].locks | length == 1 and (.[0].sites | length == $n and
		([.[].calls] | max - min <= 1) and (map(.address) | unique | length == $n))' >/dev/null ||
		fail "not each of $sites sites has its figures: $(jq -c '.locks[0].sites[:3]' $sites.json)"
	jq -e '.locks[0] | .acquired == ([.sites[].calls] | add) and .wait_ns == ([.sites[].wait_ns] | add) and
		.contended == ([.sites[].holders[].contended] | add)' $sites.json >/dev/null ||
		fail "the sites of $sites do not add up: $(jq -c '.locks[0] | del(.sites)' $sites.json)"
done
