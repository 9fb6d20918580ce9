#!/bin/bash
# SPDX-License-Identifier: MIT
# The examples give the same results plain, with -pg, and under record; the reports show exactly their work.
set -e
. "$GM_TOP/tests/lib.sh"

# same EXAMPLE ARG...: runs the example in three ways; leaves its capture in ./data, its reports beside it.
same()
{
	local name=$1 section
	shift
	rm -rf data ./*.json
	"$GM_BUILD/examples/plain/$name" "$@" >plain.out || fail "$name fails by itself"
	"$GM_BUILD/examples/$name" "$@" >pg.out || fail "$name fails with -pg"
	"$GM_BUILD/gprof-mt" record -q -o data --profile full-sched -- "$GM_BUILD/examples/$name" "$@" \
		>record.out || fail "$name fails under record"
	cmp plain.out pg.out
	cmp plain.out record.out
	for section in threads sync callgraph; do
		"$GM_BUILD/gprof-mt" report -i data --format json $section >$section.json
	done
}

# calls FUNCTION NUMBER: it was called that often in all.
calls()
{
	local n
	n=$(jq --arg f "$1" '[.arcs[] | select(.to == $f) | .calls] | add // 0' callgraph.json)
	[ "$n" = "$2" ] || fail "$1: expected $2 calls, got $n"
}

# each_thread PATTERN FUNCTION NUMBER: each thread with such a name made that many operations.
each_thread()
{
	jq -e --arg p "$1" --arg f "$2" --argjson n "$3" --slurpfile t threads.json '
		.sync as $sync | [$t[0].threads[] | select(.name | test($p)) | .tid] | length > 0 and
		all(. as $tid | [$sync[] | select(.tid == $tid and (.function | test($f + "$"))) |
			.calls] == [$n])' sync.json >/dev/null ||
		fail "$2 of threads $1: expected $3 each: $(jq -c '.sync[] | [.tid, .function, .calls]' sync.json)"
}

threads()
{
	local n
	n=$(jq --arg p "$1" '[.threads[] | select(.name | test($p))] | length' threads.json)
	[ "$n" = "$2" ] || fail "expected $2 threads named $1, got $n: $(jq -c '[.threads[].name]' threads.json)"
}

# Table 2 of the paper: one meal.
same philosophers 4 1
threads '^phil-[0-3]$' 4
each_thread '^phil-' mutex_lock 3
each_thread '^phil-' mutex_unlock 3
each_thread '^phil-' sem_wait 2
each_thread '^phil-' sem_post 2
each_thread '^phil-' sem_destroy 1

"$GM_BUILD/gprof-mt" report -i data --format json switches | jq -e '
	[.nodes[] | select(.name | test("^phil-")) | .group] == ["dine", "dine", "dine", "dine"]' \
	>/dev/null || fail 'threads of one start routine are not one group'

same philosophers 10 5
calls MutexLock 150
calls MutexUnLock 150
calls Wait 100
calls Post 100
calls LockDestroy 10
calls crunch 20000
calls dine 10

same client_server 5 10
threads '^client-[0-4]$' 5
threads '^server-[0-4]$' 5
threads '^listener$' 1
calls accept_connection 5
calls call_server 50
calls send_reply 50
calls next_request 55
calls compute_reply 55

same crossroad 20 5
threads '^car-[0-9]+$' 20
calls crossing_enter 100
calls crossing_leave 100
each_thread '^car-' mutex_lock 10
each_thread '^car-' mutex_unlock 10

same farm 3 100000
threads '^worker-[0-2]$' 3
calls is_prime 49999
calls count_primes 400
calls queue_put 430
calls queue_get 430
calls gather_round 10
each_thread '^worker-' barrier_wait 20
