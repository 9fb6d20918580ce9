#!/bin/bash
# SPDX-License-Identifier: MIT
# The test runner itself: verdicts, closing line, exit status, selection, limit, fresh directories.
set -e
. "$GM_TOP/tests/lib.sh"

# t FOLDER/NAME: makes a test of its standard input.
t()
{
	mkdir -p "tests/${1%/*}"
	cat >"tests/$1"
}

# runner EXPECTED_STATUS ARG...
runner()
{
	local expected=$1 status=0
	shift
	"$GM_TOP/tests/run" -d tests "$@" >out 2>&1 || status=$?
	[ $status = "$expected" ] || { cat out; fail "exit $status, expected $expected: $*"; }
}

closes_with()
{
	[ "$(tail -n 1 out)" = "$1" ] || { cat out; fail "closing line is not: $1"; }
}

mkdir tmp
export TMPDIR=$PWD/tmp
t one/test_good.sh <<<'[ -z "$(ls -A)" ] && [ -d "$GM_TOP" ] && [ -n "$GM_BUILD" ] && touch litter'
t one/test_good2.sh <<<'[ -z "$(ls -A)" ]'
t two/test_skip.sh <<<'echo no such device; exit 77'

runner 0
closes_with '2 passed, 0 failed, 1 skipped'
grep -q '^PASS one/test_good (' out || fail 'no PASS line'
grep -q '^SKIP two/test_skip (.*: no such device$' out || fail 'the reason of a skip is not shown'
[ -z "$(ls tmp)" ] || fail 'directories of passed tests are left over'

t two/test_bad.sh <<<'echo the reason; touch evidence; exit 3'
runner 1 -j 3
closes_with '2 passed, 1 failed, 1 skipped'
grep -q '^FAIL two/test_bad (.*exit status 3$' out || fail 'no FAIL line'
grep -q '| the reason$' out || fail 'output of a failed test is not shown'
[ -e "$(sed -n 's/^ *kept: //p' out)/evidence" ] || fail 'directory of a failed test is not kept'

runner 0 one
closes_with '2 passed, 0 failed, 0 skipped'
runner 0 'o*/*good'
closes_with '1 passed, 0 failed, 0 skipped'
runner 1 two/test_skip
closes_with '0 passed, 0 failed, 1 skipped'
runner 1 'nothing*'
closes_with '0 passed, 0 failed, 0 skipped'

t two/test_bad.sh <<<'. "$GM_TOP/tests/no-such-file"; true'
runner 1 two/test_bad
grep -q '^FAIL two/test_bad (.*a file or command of the script is missing$' out || fail 'passed without its functions'
rm tests/two/test_bad.sh

t three/test_hang.sh <<<'while :; do sleep 0.2; done'
runner 1 -t 1 three
closes_with '0 passed, 1 failed, 0 skipped'
echo 'int main(void){return 0;}' >tests/three/test_unbuilt.c
runner 1 -b nowhere test_unbuilt
closes_with '0 passed, 1 failed, 0 skipped'
