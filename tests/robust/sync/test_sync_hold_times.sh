#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sync.holds = yes: the number and duration of uncontended holds are as measured by the program itself,
# and as with mode = all, for 32 threads, a forked child, and a program that is killed.  Holds without
# space in the file are counted as lost.
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

need jq
build hold_times
unset GPROF_MT_CONFIG LD_PRELOAD

for mode in all contended auto; do
	for threads in 1 32; do
		printf '[sync]\npath_sample = off\nmode = %s\nholds = yes\n' $mode >timed.conf
		fresh env GPROF_MT_CONFIG="$PWD/timed.conf" LD_PRELOAD="$libsync" ./hold_times $threads 1500 >out 2>err
		status=$?
		[ $status = 137 ] || { cat err; fail "$mode: exit status $status"; }
		"$gprof_mt" report --format json locks quality >report.json || fail "$mode: report: exit status $?"
		jq -r '.locks[] | select(.hold_ns != null) | "\(.pid) \(.object) \(.acquired) \(.hold_ns) \(.hold_max_ns) \(.hold_mean_ns)"' \
			report.json >got
		# In one run of 1,500 holds a sum is as exact as the clocks: within 2 %.
		awk -v what="$mode, $threads threads" '
			NR == FNR { acquired[$1, $2] = $3; held[$1, $2] = $4; longest[$1, $2] = $5; mean[$1, $2] = $6; next }
			{ k = $1 SUBSEP $2; n++ }
			acquired[k] != $3 { print what ": " $0 ": acquired " acquired[k]; bad = 1 }
			held[k] < 0.98 * $4 || held[k] > 1.02 * $5 { print what ": " $0 ": held " held[k]; bad = 1 }
			longest[k] > held[k] || longest[k] < mean[k] { print what ": " $0 ": longest " longest[k]; bad = 1 }
			{ inside += $4; outside += $5; all += held[k] }
			END { printf "%s: %d locks, held %.1f ms; by the program %.1f to %.1f\n", what, n, all / 1e6, inside / 1e6, outside / 1e6
				exit bad || n != '$((threads * 4 + 1))' }' got out || fail "$mode: the holds differ from those that the program measured"
		[ "$(jq '.quality | length' report.json)" = 0 ] || { jq .quality report.json; fail "$mode: expected an empty section quality"; }
	done
done

# The call sites of the acquisitions.
jq -e '[.locks[] | select(.type == "mutex") | .sites[] | select(.calls == null and .function != "pthread_mutex_trylock")] | length == 0' \
	report.json >/dev/null || fail "call sites of mutexes without a number of calls"

# Without sync.holds, the times are missing, and the reports name the option.
printf '[sync]\npath_sample = off\nmode = contended\n' >timed.conf
fresh env GPROF_MT_CONFIG="$PWD/timed.conf" LD_PRELOAD="$libsync" ./hold_times 1 10 >/dev/null 2>&1
"$gprof_mt" report locks | grep -q 'sync.holds=yes' || fail "the report does not say how holds are measured"
[ -z "$(find gprof-mt.data -name sync-holds)" ] || fail "sync-holds is there without sync.holds"

# A full file: each hold is either recorded or counted as lost.
printf '[sync]\npath_sample = off\nmode = contended\nholds = yes\n' >timed.conf
fresh sh -c 'ulimit -f 200; GPROF_MT_CONFIG="$PWD/timed.conf" LD_PRELOAD="'"$libsync"'" ./hold_times many 5000' >out ||
	fail "a full file: exit status $?"
"$gprof_mt" report --format json locks quality >report.json || fail "a full file: report: exit status $?"
lost=$(jq '[.quality[] | select(.problem // .what | test("sync-holds could not grow")) | .count] | add // 0' report.json)
there=$(jq '[.locks[] | select(.type == "mutex") | .acquired] | add' report.json)
echo "a full file: $there holds, $lost lost"
[ "$lost" -gt 0 ] || { jq .quality report.json; fail "expected lost holds: the file was not full"; }
[ $((there + lost)) = 5000 ] || fail "expected 5000 holds, recorded or lost, found $there + $lost"

# A damaged or truncated file is reported, without a crash.
file=$(echo gprof-mt.data/*/sync-holds)
printf '\377\377\377\377\377\377\377\377' | dd of="$file" bs=1 seek=$((4096 + 24)) conv=notrunc 2>/dev/null
"$gprof_mt" report locks >/dev/null 2>err && fail "an invalid row: expected a failure, found exit status 0"
grep -q 'sync-holds: .*invalid rows' err || { cat err; fail "an invalid row is not reported"; }
truncate -s 5000 "$file"
"$gprof_mt" report locks >/dev/null 2>err
grep -q 'sync-holds: cut short' err || { cat err; fail "a truncated file is not reported"; }
