#!/bin/bash
# SPDX-License-Identifier: MIT
# A pipeline of Debian's programs: xz waits for sort, the shell for all, and the critical path leads through them. The
# labels of the arrows are complete.
. "$GM_TOP/tests/lib.sh"
need jq seq sort xz
can_trace || skip "wake-ups cannot be recorded here"

pipeline()
{
	rm -rf gprof-mt.data
	"$gprof_mt" record -q -- sh -c 'seq 200000 | sort -r | xz -0 >/dev/null' >out 2>err || fail "record: $(cat err)"
	[ ! -s err ] || fail "record: $(cat err)"
	"$gprof_mt" graph --kind wait --format json >waits.json || fail "graph"
	jq -r '([.nodes[] | {key: "\(.tid) \(.image)", value: .name}] | from_entries) as $name | .edges[] |
		"\($name["\(.from) \(.from_image)"]) \($name["\(.to) \(.to_image)"])"' waits.json >edges
	grep -vE '^(seq sort|sort seq|sort xz|xz sort|sh .*)$' edges >>others
	"$gprof_mt" report --format json critical-path >path.json || fail "report"
	# xz does not wait if it starts late, and does not end last if sort is held up at its end.
	grep -qx 'xz sort' edges || fail "xz did not wait: $(cat edges)"
	jq -r '.critical_stretches[].name' path.json | grep -xE 'sort|xz|sh' | uniq | tr '\n' ' ' >path
	grep -qE 'sort .*xz .*sh $' path || fail "the path does not lead from sort through xz to sh: $(cat path)"
}
retry pipeline
[ ! -s others ] || fail "a program waited for one that it has no pipe to: $(cat others)"
"$gprof_mt" graph --kind wait >waits.dot || fail "graph"
grep -qE '(poll|read) in xz' waits.dot && ! grep -E '(poll|read): |woken by"' waits.dot || fail "unexpected labels: $(cat waits.dot)"
