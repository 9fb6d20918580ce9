#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The critical path of a server that waits for requests of a client outside: the waits are listed apart, with
# the thread and the call, and the percentages are those of the rest.
. "$GM_TOP/tests/lib.sh"

need python3
can_trace || skip "scheduling events with wake-ups are not permitted"
build server

# serve PROFILE: records the server and its answers to 20 requests.
serve()
{
	rm -rf gprof-mt.data pid socket
	"$gprof_mt" record -q --profile "$1" -- ./server socket >pid 2>err &
	until_true 60 test -s pid || fail "the server does not listen: $(cat err)"
	python3 "$programs/client.py" socket "$(cat pid)" 20 || fail "the client failed"
	wait $! || fail "record: exit status $?: $(cat err)"
}

check()
{
	serve "$1"
	"$gprof_mt" report --format json critical-path >report.json || fail "report"
	python3 - "$1" <<'PY'
import json, sys
report = json.load(open("report.json"))
threads, outside = report["critical_threads"], report["critical_outside"]
print(threads, outside)
main = [t for t in threads if t["outside_ns"]]
assert len(main) == 1 and abs(sum(t["path_pct"] for t in threads) - 100) < 0.1, threads
assert sum(row["outside_ns"] for row in outside) == main[0]["outside_ns"] > 0, outside
assert sum(row["count"] for row in outside) >= 10, outside
assert all(row["tid"] == main[0]["tid"] for row in outside), outside
rest = sum(t["path_ns"] - t["outside_ns"] for t in threads)
expected = 100 * (main[0]["path_ns"] - main[0]["outside_ns"]) / rest
assert abs(main[0]["path_pct"] - expected) < 0.1, (threads, expected)
held = [o for o in report["critical_objects"] if o["name"] == "state_mutex"]
assert abs(held[0]["held_pct"] - 100 * held[0]["held_ns"] / rest) < 0.1, held
assert any("waited for something outside" in n["note"] for n in report["notes"]), report["notes"]
if sys.argv[1] == "full":
    assert sum(r["count"] for r in outside if r["call"] and r["call"].startswith("epoll_")) >= 10, outside
PY
}

for profile in full-sched full; do
	retry check $profile
done
