#!/bin/bash
# SPDX-License-Identifier: MIT
# The page that `gprof-mt sweep` leaves, and that of `gprof-mt bottlenecks`: they have the figures of the reports in
# JSON, and links to the captures. --resume makes the page again, without a run.
. "$GM_TOP/tests/page/common.sh"
in_chromium
build steps

cat >tests.ini <<'END'
[test lock]
command=./steps lock {w} {t}
workload=2..32*4
threads={t}=1,2,3

[test odd]
command=./steps odd {w}
workload=1,2
END
"$gprof_mt" sweep --runs 4 -o data tests.ini >text 2>err || fail "sweep: $(cat err)"
tail -n 1 text | grep -qx 'Page for a browser: data/campaign.html' || fail "the name of the page: $(tail -n 1 text)"
run=$(sed -n 's/.*"kind":"recorded".*"file":"\(lock[^"]*\)".*/\1/p' data/runs.jsonl | head -n 1)
[ -n "$run" ] || fail "no recorded run: $(cat data/runs.jsonl)"

# Made again without a run, with a link to a page that was made meanwhile.
cp data/runs.jsonl before
rm data/campaign.html
"$gprof_mt" export -i "data/$run" --format html -o "data/$run.html" || fail "export"
"$gprof_mt" sweep --resume --runs 4 --format json -o data tests.ini >all.json 2>err || fail "--resume: $(cat err)"
cmp before data/runs.jsonl || fail "runs were made again"
node "$GM_TOP/tests/page/check_campaign_real.mjs" data/campaign.html all.json || fail "the page of the sweep"

# The pages of all recorded runs; those that exist are kept.
cp "data/$run.html" kept.html
"$gprof_mt" sweep --resume --pages --runs 4 --format json -o data tests.ini >all.json 2>err || fail "--pages: $(cat err)"
same "errors with --pages" "" "$(cat err)"
cmp before data/runs.jsonl || fail "--pages: runs were made again"
cmp kept.html "data/$run.html" || fail "--pages: a page was made again"
same "pages of recorded runs" "$(sed -n 's/.*"kind":"recorded".*"exit_status":0.*"file":"\([^"]*\)".*/\1.html/p' data/runs.jsonl | sort)" \
	"$(cd data && ls ./*.html | sed 's,^\./,,' | grep -v campaign.html | sort)"
node "$GM_TOP/tests/page/check_campaign_real.mjs" data/campaign.html all.json || fail "the page with links to pages"

# One that cannot be made.
rm "data/$run.html"
ln -s nowhere "data/$run.html"
status=0
"$gprof_mt" sweep --resume --pages --runs 4 -o data tests.ini >text 2>err || status=$?
same "exit status if a page of a run cannot be made" 1 $status
grep -q "data/$run.html: the export failed" err || fail "a page of a run that cannot be made: $(cat err)"
grep -qx 'Page for a browser: data/campaign.html' text || fail "no page of the campaign without that of a run: $(cat text)"
rm "data/$run.html"

# Captures from another folder, beside one that cannot be used.
mkdir pages
captures=()
for dir in data/lock.w*; do
	[ ! -d "$dir" ] || captures+=("$dir")
done
merge()
{
	local status=0
	"$gprof_mt" bottlenecks "$@" "${captures[@]}" data/missing 2>err || status=$?
	same "exit status with a capture that is missing" 1 $status
}
merge --format json >merged.json
merge --format html -o pages/all.html
node "$GM_TOP/tests/page/check_campaign_real.mjs" pages/all.html merged.json || fail "the page of the captures"

# By default gprof-mt.html; to standard output.
"$gprof_mt" bottlenecks --format html "${captures[@]}" || fail "no --output"
"$gprof_mt" bottlenecks --format html -o - "${captures[@]}" >page.html || fail "-o -"
cmp gprof-mt.html page.html || fail "another page on standard output"
status=0
"$gprof_mt" bottlenecks --format page data data 2>err || status=$?
same "exit status with another format" 2 $status
grep -q "invalid --format 'page' (expected text, json, csv or html)" err || fail "--format page: $(cat err)"
rm data/campaign.html && mkdir data/campaign.html
status=0
"$gprof_mt" sweep --resume --runs 4 -o data tests.ini >text 2>err || status=$?
same "exit status if the page cannot be written" 1 $status
grep -q 'data/campaign.html: exists and is not a regular file' err || fail "a page that cannot be written: $(cat err)"
grep -q '^Workloads' text || fail "no tables without a page: $(cat text)"
