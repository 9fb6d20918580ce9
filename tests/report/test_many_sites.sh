#!/bin/bash
# SPDX-License-Identifier: MIT
# A lock acquired at 20,000 call sites costs the reports at most 3.5 times the instructions that it costs
# with 1,000 sites and the same number of operations, and its critical sections 5 times; each site has its figures.
. "$GM_TOP/tests/lib.sh"
need valgrind
OPERATIONS=50000

# instructions SITES SECTION...: counts those of sections with figures by call site, to SITES.json. A sanitized build
# does not run under valgrind: only its figures are checked.
instructions()
{
	local sites=$1
	shift
	[ -e "$sites" ] || "$GM_BUILD/tests/ctf/make_capture" "$sites" 4 $((2 * OPERATIONS)) "$sites" ||
		fail "no capture of $sites sites"
	if with_sanitizers; then
		"$gprof_mt" report -i "$sites" --format json "$@" >"$sites.json"
		return
	fi
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$GM_BUILD/gprof-mt" report -i "$sites" \
		--format json "$@" 2>&1 >"$sites.json" | sed -n 's/.*Collected : //p'
}

# compare TENTHS SECTION...: at most so many times the instructions. There are also 20 times as many rows to print.
compare()
{
	local tenths=$1 few many
	shift
	few=$(instructions 1000 "$@")
	many=$(instructions 20000 "$@")
	echo "$*: $few instructions with 1000 call sites, $many with 20000"
	with_sanitizers && return
	[ "${few:-0}" -gt 0 ] && [ "${many:-0}" -gt 0 ] || fail "callgrind did not count"
	[ $((10 * many)) -le $((tenths * few)) ] || fail "expected at most $tenths/10 of the instructions: $few, $many"
}
compare 50 bottlenecks
for sites in 1000 20000; do
	jq -e --argjson n $sites '.bottlenecks | length == $n and all(.[]; .instances > 0)' $sites.json >/dev/null ||
		fail "not each of $sites critical sections has its figures: $(jq -c '.bottlenecks[:3]' $sites.json)"
done
compare 35 locks sync switches critical-path

for sites in 1000 20000; do
	jq -e --argjson n $sites --slurpfile all $sites.json -n '
		$all[0].locks | length == 1 and (.[0].sites | length == $n and
		([.[].calls] | max - min <= 1) and (map(.address) | unique | length == $n))' >/dev/null ||
		fail "not each of $sites sites has its figures: $(jq -c '.locks[0].sites[:3]' $sites.json)"
	jq -e '.locks[0] | .acquired == ([.sites[].calls] | add) and .wait_ns == ([.sites[].wait_ns] | add) and
		.contended == ([.sites[].holders[].contended] | add)' $sites.json >/dev/null ||
		fail "the sites of $sites do not add up: $(jq -c '.locks[0] | del(.sites)' $sites.json)"
done
