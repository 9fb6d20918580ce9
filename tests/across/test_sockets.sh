#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that wait for data by TCP wait for the thread that sent it, and for no other one, while other threads receive
# as well. A thread that receives by UDP is woken by an interrupt.
. "$GM_TOP/tests/lib.sh"
need jq
can_trace || skip "wake-ups cannot be recorded here"
has_bpf || skip "$("$gprof_mt" doctor | grep -A 1 'BPF programs' | tr -s ' \n' ' ')"
build sockets

"$gprof_mt" record -q --set kernel.source=bpf --set io.threshold=0ns ./sockets 2000 >out 2>err || fail "record: $(cat err)"
"$gprof_mt" graph --kind wait --format json >waits.json || fail "graph"
jq -r '([.nodes[] | {key: (.tid | tostring), value: .name}] | from_entries) as $name | .edges[] | . as $edge | .waits[] |
	select(.name == "read") | "\($name[$edge.from | tostring]) \($name[$edge.to | tostring]) \(.count)"' waits.json >edges
pairs='tcp_a tcp_b|tcp_b tcp_a|six_a six_b|six_b six_a'
! grep -vE "^($pairs) " edges || fail "a thread waited for one that did not send to it: $(cat edges)"
awk '{n += $3} END {exit n < 200}' edges || fail "few waits were followed to the sender: $(cat edges)"
jq -e '.notes[] | select(.note | test("woken by an interrupt"))' waits.json >/dev/null ||
	fail "expected waits for UDP that an interrupt ended: $(jq -c .notes waits.json)"
