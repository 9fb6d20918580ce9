#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt suggest --against`: of a program that was fixed as suggested, the pattern is gone, nothing is new, and the
# prediction stands beside the real change; of one that was fixed wrongly, the new conflict and the new cycle of locks
# are named. The page has the same figures. Times depend on the load of the machine, so that only their signs are fixed.
. "$GM_TOP/tests/suggest/common.sh"
need jq

# suggest ARGUMENT...: writes the result to json
suggest()
{
	"$gprof_mt" suggest --format json --runs 3 "$@" >json 2>err || fail "suggest $*: $(cat err)"
}

# holds JQ_EXPRESSION
holds()
{
	jq -e "$1" json >/dev/null || fail "expected $1 in $(cat json)"
}

captures slow
captures fixed -DFIXED
captures broken -DBROKEN

# The lock is split, as suggested.
suggest slow.a slow.t --against fixed.a --against fixed.t
holds '.suggestions[0] | .lock == "stock_lock" and .pattern == "null-shared groups"'
same "the pattern" gone "$(jq -r '.contention[0] | select(.lock == "stock_lock") | .result' json)"
holds '.contention[0] | .unnecessary_before == .pairs_before and .pairs_before > 0 and .pairs_after == 0 and .wait_after_ns == 0'
holds '.contention[0].wait_before_ns > 0 and .contention[1].lock == null and .contention[1].wait_before_ns == .contention[0].wait_before_ns'
holds '.new_conflicts == [] and .new_cycles == []'
holds '.truth | length == 1 and .[0].predicted_pct < 0 and .[0].before_ns > 0 and .[0].after_ns > 0'
holds '.truth[0] | .error_pct - (.predicted_pct - .real_pct) | fabs < 0.01'
holds '[.notes[] | select(.section == "truth" and (.note | startswith("the prediction is that of stock_lock (null-shared groups)")))] | length == 1'

# Several runs of each have an error.
for run in slow fixed; do
	record_all "$run.2" "traced.$run/stock" >out 2>&1 || fail "record $run: $(cat out)"
done
suggest slow.a slow.2 --against fixed.a --against fixed.2
holds '.truth[0] | .real_error_pct > 0 and .before_ns > 0'
holds '[.notes[].note | select(startswith("waits are those of the captures with accesses"))] | length == 1'
holds '[.notes[].note | select(startswith("the real times are means of recorded runs (2 before, 2 after)"))] | length == 1'

# Nothing was changed: nothing is predicted.
"$gprof_mt" record -q -o slow.3 --set sync.mode=all -- bare.slow/stock >out 2>&1 || fail "record: $(cat out)"
suggest slow.a slow.t --against slow.2 --against slow.3
holds '.contention[0].result == "still found" and .truth[0].predicted_pct == null and .truth[0].real_pct != null'
holds '[.notes[].note | select(contains("no suggestion was followed"))] | length == 1'

# Both numbers are now changed in one section.
suggest slow.a slow.t --against broken.a --against broken.t
line=$(grep -nF 'pthread_mutex_lock(&orders_lock);' "$programs/stock.c" | head -n 1 | cut -d: -f1)
holds ".new_conflicts | map(.site_a, .site_b) | any(startswith(\"deliver (stock.c:$line)\"))"
holds '.new_conflicts | all(.lock == "orders_lock" and .data == "orders" and .has_common_lock)'
holds '.new_cycles | length == 1 and .[0].locks == "orders_lock, stock_lock" and (.[0].steps | contains("stock_lock wanted at count (stock.c:"))'

# The same without the other lock: a race.
captures apart -DAPART
suggest slow.a slow.t --against apart.a --against apart.t
holds '.new_conflicts | length == 1 and (.[0] | .has_common_lock == false and .data == "orders" and .lock == "orders_lock, stock_lock")'
holds '.new_conflicts[0] | (.site_a | startswith("order (")) and (.site_b | startswith("deliver ("))'
holds '[.notes[].note | select(contains("the change is wrong"))] | length == 1'

# Without accesses of the changed program, what rests on them is missing.
suggest slow.a slow.t --against fixed.t
holds '.contention[0] | .result == null and .pairs_after == null and .wait_after_ns == 0'
holds '.new_conflicts == [] and ([.notes[] | select(.section == "new_conflicts" and (.note | startswith("new conflicts are not known")))] | length == 1)'
suggest slow.a --against fixed.t
holds '.truth[0] | .real_pct == null and .predicted_pct == null'
holds '[.notes[].note | select(startswith("the real change is not known: captures of one program have accesses"))] | length == 1'

# Real runs of both programs, which are not recorded.
suggest slow.a slow.t -- bare.fixed/stock
holds '.truth[0] | .predicted_pct < 0 and .real_error_pct > 0 and (.before_ns > 0)'
holds '[.notes[].note | select(startswith("the real times are means of 3 runs of each program"))] | length == 1'
holds '[.notes[].note | select(startswith("that this suggestion was followed is assumed"))] | length == 1'
suggest slow.a slow.t --against fixed.a -- bare.fixed/stock
holds '.contention[0].result == "gone" and .truth[0].real_error_pct > 0'

# A lock with a condition is left out, and named.
captures condition -DCONDITION
suggest condition.a condition.t
holds '.suggestions == [] and ([.notes[].note | select(startswith("stock_lock is left out: ") and contains("use a condition"))] | length == 1)'

# The other formats.
"$gprof_mt" suggest --runs 3 --format csv --output csv slow.a slow.t --against fixed.a --against fixed.t 2>err || fail "csv: $(cat err)"
for table in suggestions contention truth new_conflicts new_cycles; do
	[ -s "csv/$table.csv" ] || fail "no csv/$table.csv: $(ls csv)"
done
"$gprof_mt" suggest --runs 3 --format html --output page.html slow.a slow.t --against broken.a --against broken.t >out 2>err || fail "html: $(cat err)"
same "printed beside the page" "" "$(cat out)"
python3 - <<'END' || fail "page.html: see above"
import html.parser
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.words = [], []
    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "link", "img"), tag
        if tag != "meta":
            self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_data(self, data):
        self.words.append(data)
page = Page()
page.feed(open("page.html", encoding="utf-8").read())
assert page.open == [], page.open
words = " ".join("".join(page.words).split())
for expected in ("1. stock_lock: split the lock", "Captures: slow.a (with memory accesses), slow.t.", "New cycles of locks: 1.",
                 "Captures of the changed program: broken.a (with memory accesses), broken.t.", "not exercised", "within",
                 "pthread_mutex_lock(&stock_lock);", "Contention before and after", "orders_lock, stock_lock", "run time was not predicted"):
    assert expected in words, (expected, words)
END

# Bad input.
fails 1 "slow.a: the same run as slow.a, or a copy" suggest slow.a --against slow.a
fails 1 "nowhere" suggest slow.a --against nowhere
fails 1 "bare.none/stock" suggest slow.a slow.t -- bare.none/stock
fails 1 "the run failed (exit status 1)" suggest --runs 2 slow.a slow.t -- false
fails 2 "expected the directories of captures" suggest --against slow.a
fails 2 "expected the directories of captures" suggest -- ./stock
"$gprof_mt" record -q -o contended --set sync.mode=contended -- bare.slow/stock >out 2>&1 || fail "record: $(cat out)"
fails 1 "use --allow-gaps" suggest slow.a contended
suggest slow.a contended --allow-gaps

# The program was built again in its place.
cp traced.fixed/stock traced.slow/stock || fail "no copy"
"$gprof_mt" suggest slow.a slow.t --against fixed.a >out 2>err
[ $? = 1 ] && [ ! -s out ] && grep -qF "slow.a: $PWD/traced.slow/stock: no names for addresses: build-id differs; suggestions need" err ||
	fail "another build: $(cat out err)"
