#!/bin/bash
# SPDX-License-Identifier: MIT
# The leading cause of waits, in the first line of `summary` and in what `record` prints: of a program whose lock is
# held too long, and of the same program after a fix. `diff` shows that the cause is gone.
. "$GM_TOP/tests/lib.sh"
need jq python3

# Before the fix, insert() holds the lock while it computes. After it, the other thread takes the lock meanwhile.
cat >app.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "unit/sleeper.h"
static struct {
	pthread_mutex_t lock;
	int n;
} table = {PTHREAD_MUTEX_INITIALIZER, 0};
static int tid, is_done, is_fixed;
static volatile unsigned long sum;

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

__attribute__((noinline)) static void compute(void)
{
	long begin = now_ms();

	while (now_ms() < begin + 200)
		sum = sum + 1;
}

__attribute__((noinline)) static void insert(void)
{
	if (is_fixed) {
		compute();
		while (!__atomic_load_n(&is_done, __ATOMIC_ACQUIRE))
			usleep(1000);
	}
	pthread_mutex_lock(&table.lock);
	table.n++;
	if (!is_fixed && sleeper_await(&tid))
		compute();
	pthread_mutex_unlock(&table.lock);
	sum = sum + 1;
}

static void *look_up(void *unused)
{
	while (!is_fixed && !__atomic_load_n(&table.n, __ATOMIC_ACQUIRE))
		usleep(1000);
	__atomic_store_n(&tid, gettid(), __ATOMIC_RELEASE);
	pthread_mutex_lock(&table.lock);
	table.n++;
	pthread_mutex_unlock(&table.lock);
	__atomic_store_n(&is_done, 1, __ATOMIC_RELEASE);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	is_fixed = argc > 1 && strcmp(argv[1], "fixed") == 0;
	pthread_create(&thread, NULL, look_up, NULL);
	insert();
	return pthread_join(thread, NULL);
}
END
"$CC" -D_GNU_SOURCE -O1 -g -I"$GM_TOP/tests" -o app app.c -pthread || fail "cannot compile"
acquired=$(grep -n 'pthread_mutex_lock' app.c | head -1 | cut -d: -f1)
released=$(grep -n 'pthread_mutex_unlock' app.c | head -1 | cut -d: -f1)
pattern="what insert\(\) does while it holds table\.lock \(mutex\), acquired at app\.c:$acquired and released at :$released"
cause="what insert() does while it holds table.lock (mutex), acquired at app.c:$acquired and released at :$released"

# recorded DIR PROFILE ARGUMENT...: what record prints goes to DIR.err
recorded()
{
	local dir=$1 profile=$2
	shift 2
	rm -rf "$dir"
	"$gprof_mt" record -o "$dir" --profile "$profile" -- ./app "$@" 2>"$dir.err" || fail "record: $(cat "$dir.err")"
	[ "$(wc -l <"$dir.err")" -le 10 ] || fail "more than ten lines: $(cat "$dir.err")"
	"$gprof_mt" report -i "$dir" summary >"$dir.text" || fail "$dir: no report"
	"$gprof_mt" report -i "$dir" --format json summary threads locks blame >"$dir.json" || fail "$dir: no report"
}

# The finding in summary, in one line.
sentence()
{
	sed -n 's/^  finding  *//p; /^  command/q; s/^               *//p' "$1.text" | tr '\n' ' '
}

recorded before applic-only
recorded after applic-only fixed
# The program sleeps while it waits for the other thread to wait.
asleep='; its thread was blocked in usleep\(\) [0-9.]+ % of that time(; for [0-9.]+ % this is not known)?'
# The finding is before all other lines on waits, and has no time that was not measured.
grep -qE "^gprof-mt: finding: threads wait for the holder of a lock: waits are [0-9.]+ % of the threads' lifetimes, and [0-9.]+ % of these are for $pattern($asleep)?; only look_up \(tid [0-9]+\) waits for the lock, for [0-9.]+ % of its lifetime\$" before.err ||
	fail "record: $(cat before.err)"
grep -n 'finding\|waited' before.err | head -1 | grep -q finding || fail "record: $(cat before.err)"
sentence before | grep -qF "$cause" || fail "summary: $(cat before.text)"
[ "$(grep -m 1 '^  ' before.text | cut -c3-9)" = finding ] || fail "not the first line: $(cat before.text)"
! awk 'length > 120' before.text | grep finding || fail "too long: see above"
for file in after.err after.text; do
	grep -qE 'finding:? +nothing to blame: (all waits were idle|there are no waits)$' $file || fail "$file: $(cat $file)"
done

# Its figures are those of the other sections.
python3 - <<'END' || fail "see above: $(cat before.json)"
import json
report = json.load(open("before.json"))
[finding] = report["summary"][0]["finding"]
rows = [row for row in report["blame"] if row["name"] == "table.lock"]
mine = [row for row in rows if row["kind"] == "holder" and row["site"] == finding["site"]]
assert finding["wait_ns"] == sum(row["wait_ns"] for row in mine) > 50e6, (finding, mine)
waits = sum(row["wait_ns"] - row["idle_ns"] for row in report["blame"])
assert abs(finding["share_pct"] - 100 * finding["wait_ns"] / waits) < 0.01, (finding, waits)
of_object = sum(row["wait_ns"] for row in report["locks"] if row["name"] == "table.lock")
assert abs(finding["object_pct"] - 100 * of_object / waits) < 0.01, (finding, of_object, waits)
assert finding["kind"] == "holder" and finding["waits"] == 1 and finding["objects"] == 1, finding
[thread] = [row for row in report["threads"] if row["name"] == "look_up"]
assert finding["waiters"] == 1 and finding["waiter"] == f"look_up (tid {thread['tid']})", finding
assert abs(finding["waiter_pct"] - 100 * of_object / thread["lifetime_ns"]) < 0.01, (finding, thread)
[finding] = json.load(open("after.json"))["summary"][0]["finding"]
assert finding["kind"] == "nothing" and finding["name"] is None and finding["waits_pct"] == 0, finding
END

# The hot lock's blame is gone: its row is only in A. Addresses differ in each run.
"$gprof_mt" diff --format json before after blame >diff.json || fail "diff"
jq -e '(.captures[0].finding == "threads wait for the holder of a lock: table.lock") and
	(.captures[1].finding == "nothing to blame") and (.captures[0].finding_text | contains("insert()")) and
	([.blame[] | select(.group == "table.lock" and .kind == "holder") | .in] == ["only A"])' diff.json >/dev/null ||
	fail "diff: $(cat diff.json)"
"$gprof_mt" diff before after >text || fail "diff"
grep -q 'nothing to blame' text || fail "diff: $(cat text)"
recorded again applic-only
"$gprof_mt" diff --format json before again blame >diff.json || fail "diff"
jq -e '[.blame[] | select(.group == "table.lock" and .kind == "holder") | .in] == ["both"]' diff.json >/dev/null ||
	fail "the same program: $(cat diff.json)"
"$gprof_mt" diff --format json before after flat | jq -e '[.captures[].finding] == [null, null]' >/dev/null || fail "diff flat"

# With scheduling events, the title says what the holder did.
scheduled()
{
	recorded sched full-sched
	jq -e '.summary[0].kernel_source != "none"' sched.json >/dev/null || skip "no scheduling events here"
	# record does not read them.
	grep -q '^gprof-mt: finding: .* (by calls alone; scheduling: gprof-mt report summary)$' sched.err ||
		fail "record: $(cat sched.err)"
	jq -e '.summary[0].finding[0] | (.kind == "held" or .kind == "preempted") and .running_ns > 50000000 and
		.unknown_ns < .wait_ns / 2 and .wait_ns == .running_ns + .runnable_ns + .blocked_sync_ns +
		.blocked_io_ns + .blocked_other_ns + .unknown_ns' sched.json >out &&
		sentence sched | grep -E 'the (lock is held too long|holder of the lock gets no CPU): waits are' |
		grep -qE '; its thread was (running|ready without a CPU) [0-9.]+ % of that time'
}
retry scheduled
