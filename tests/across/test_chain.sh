#!/bin/bash
# SPDX-License-Identifier: MIT
# A request through four programs and back: the critical path and the wait graph agree with the programs' own log.
. "$GM_TOP/tests/lib.sh"
need python3 jq

build chain
can_trace || skip "wake-ups cannot be recorded here"

# chain KIND: records the program and compares; 3 if that run proves nothing.
chain()
{
	rm -rf capture pid.* log.*
	"$gprof_mt" record -q -o capture --set io.threshold=0ns ./chain "$1" 12 5000 >out 2>err ||
		fail "$1: record: $(cat out err)"
	[ ! -s err ] || { cat err >figures && return 3; }
	cat log.? >log
	"$gprof_mt" report -i capture --format json critical-path >path.json || fail "$1: report"
	"$gprof_mt" graph -i capture --kind wait --format json >waits.json || fail "$1: graph"
	python3 "$programs/check_chain.py" log path.json waits.json "$1" >figures 2>&1
}

kinds=(pipe unix poll)
! has_bpf || kinds+=(tcp)
for kind in "${kinds[@]}"; do
	for ((attempt = 0; attempt < 10; attempt++)); do
		chain $kind
		status=$?
		[ $status = 3 ] || break
	done
	echo "$kind:" && cat figures
	[ $status = 0 ] || fail "$kind, attempt $((attempt + 1)): status $status"
done
