#!/bin/bash
# SPDX-License-Identifier: MIT
# Two threads of which one works at a time, with the other's result, by semaphores or by a condition variable: their
# waits are the time of the program, so they are not idle, and come first in `locks`, `summary` and record's lines.
. "$GM_TOP/tests/lib.sh"
need jq

build handover
# Where only waits are recorded, posts that nobody waits for yet are missing, and with them turns.
for kind in sem cond; do
	for mode in all $([ $kind = sem ] || echo contended); do
		rm -rf d
		"$gprof_mt" record --set kernel.source=none --set sync.mode=$mode -o d -- ./handover $kind 200 2>err ||
			fail "$kind, $mode: exit status $?"
		"$gprof_mt" report -i d --format json locks summary critical-path >report.json || fail "$kind, $mode: report"
		# Most: another program may take the CPU of a thread that is about to wait.
		jq -e --arg kind $kind '[.locks[] | select(.type == $kind)]
			| (map(.wait_ns) | add) >= 180000000 and (map(.idle_ns) | add) <= (map(.wait_ns) | add) / 4' \
			report.json >out || fail "$kind, $mode: $(jq -c '.locks[] | {name, type, wait_ns, idle_ns}' report.json)"
		[[ $(grep -m 1 'waited' err) == *"$([ $kind = sem ] && echo result || echo turn)"* ]] || fail "$kind, $mode: $(cat err)"
		# The critical path goes through the worker's turns.
		jq -e '([.critical_threads[].path_ns] | max) >= 180000000' report.json >out ||
			fail "$kind, $mode: $(jq -c .critical_threads report.json)"
	done
done
exit 0
