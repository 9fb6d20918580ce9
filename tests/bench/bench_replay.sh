#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures replays of a capture with 10 M operations of 50 threads, of which one lock in ten is contended: the wall time
# and the peak memory of making the model, and how many steps a simulation processes in a second of CPU time.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

operations=${OPERATIONS:-10000000}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# measured COMMAND...: prints the seconds of wall time and of CPU time, and the peak memory in MiB
measured()
{
	python3 - "$@" <<'END'
import resource, subprocess, sys, time
start = time.monotonic()
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
wall, usage = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{wall:.3f} {usage.ru_utime + usage.ru_stime:.3f} {usage.ru_maxrss / 1024:.0f}")
END
}

# row WHAT VALUE UNIT BUDGET VERDICT
row()
{
	printf '%s\t-\t-\t%s\t%s\t-\t%s\t%s\n' "$@"
}

"$GM_BUILD/tests/ctf/make_capture" capture 50 "$operations" waits
replay=("$GM_BUILD/gprof-mt" replay -q --cost 0)
"${replay[@]}" --runs 2 --write model capture >/dev/null
steps=$(grep -c '^[0-9]' model)
rm model
read -r wall cpu memory < <(measured "${replay[@]}" --runs 2 capture)
read -r _ more _ < <(measured "${replay[@]}" --runs 12 capture)
row "replay of $operations operations, twice: wall time" "$wall" s 10 "$(awk -v x="$wall" 'BEGIN { print x <= 10 ? "pass" : "miss" }')"
row "replay of $operations operations: peak memory" "$memory" MiB 1024 "$([ "$memory" -le 1024 ] && echo pass || echo miss)"
awk -v n="$steps" -v s="$(awk -v a="$more" -v b="$cpu" 'BEGIN { print a - b }')" 'BEGIN {
	rate = s > 0 ? 10 * n / s / 1e6 : 0
	printf "simulation, ten times %.1f M steps\t-\t-\t%.2f\tM steps/s\t-\t2\t%s\n", n / 1e6, rate, (rate >= 2 ? "pass" : "miss") }'
