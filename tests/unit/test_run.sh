#!/bin/bash
# SPDX-License-Identifier: MIT
# Checks the test runner: verdicts, last line, exit status, selection, limit, empty directories.
set -e
. "$GM_TOP/tests/lib.sh"

# t FOLDER/NAME: creates a test whose text is standard input.
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
	[ "$(tail -n 1 out)" = "$1" ] || { cat out; fail "expected the last line: $1"; }
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
export GM_TESTS_UNTIL=$((EPOCHSECONDS - 1))
runner 0 one
closes_with '0 passed, 0 failed, 2 skipped'
grep -q '^SKIP one/test_good: no time left$' out || fail 'a test that was left out is not named'
GM_TESTS_UNTIL=$((EPOCHSECONDS + 1000)) runner 0 one
closes_with '2 passed, 0 failed, 0 skipped'
unset GM_TESTS_UNTIL
runner 1 two/test_skip
closes_with '0 passed, 0 failed, 1 skipped'
t robust/three/test_deep.sh <<<'true'
for selection in robust robust/three robust/three/test_deep robust/test_deep test_deep; do
	runner 0 $selection
	closes_with '1 passed, 0 failed, 0 skipped'
done
runner 0 -l
! grep robust out || fail 'a folder of robust/ is selected by default'
runner 2 one 'nothing*'
grep -q "^tests/run: no test matches 'nothing\*'" out || { cat out; fail 'a name that no test has is ignored'; }

# The tests of the file `slow` are left out by default.
printf '# a comment\none/test_good2\n' >tests/slow
runner 0 -l
[ "$(cat out)" = "$(printf 'one/test_good\ntwo/test_bad\ntwo/test_skip')" ] || { cat out; fail 'a slow test is selected by default'; }
runner 0 -a -l
grep -qx one/test_good2 out || { cat out; fail '-a does not select the slow tests'; }
for selection in slow one/test_good2; do
	runner 0 $selection
	closes_with '1 passed, 0 failed, 0 skipped'
done
echo one/test_gone >tests/slow
runner 2 one
grep -q "^tests/run: .*/slow names 'one/test_gone': no such test" out || { cat out; fail 'a slow test that does not exist is ignored'; }
rm tests/slow

t two/test_bad.sh <<<'. "$GM_TOP/tests/no-such-file"; true'
runner 1 two/test_bad
grep -q '^FAIL two/test_bad (.*a file or command of the script is missing$' out || fail 'a test passes although it could not source its functions'
rm tests/two/test_bad.sh

# -c: all readers run on the captures that tests have left or begun anew, one of each kind; a report of a
# sanitizer is a failure, though the status is that of a damaged capture.
mkdir build
cat >build/gprof-mt <<END
#!/bin/sh
[ "\$2" != --help ] || exec "$gprof_mt" "\$@"
echo "\$@" >>"$PWD/commands"
[ ! -e "$PWD/report" ] || echo "ERROR: AddressSanitizer: heap-buffer-overflow" >&2
exit 1
END
chmod +x build/gprof-mt
t two/test_takes.sh <<<'. "$GM_TOP/tests/lib.sh"
capture() { mkdir -p gprof-mt.data/$1; echo gprof-mt-capture >gprof-mt.data/session; echo >gprof-mt.data/$1/threads; }
capture 12; fresh capture 13; fresh capture 14.1
mkdir deep; mv gprof-mt.data deep/other
capture 15; head -c 2000000 /dev/zero >gprof-mt.data/large'
runner 0 -c -b build two/test_takes
closes_with '2 passed, 0 failed, 0 skipped'
grep -q '^PASS captures/readers (' out && grep -q '^ *3 captures .* 1 more are too large; 2 differ .* 2 of these' out ||
	{ cat out; fail 'the captures are not as expected'; }
[ "$(grep -c '^timeline .*--tid 1[234]' commands)" = 4 ] || fail "not all commands"
[ -z "$(find tmp -name '*.captures')" ] || fail 'captures are left over'
touch report
runner 1 -c -b build two/test_takes
grep -q '| .*AddressSanitizer' out || { cat out; fail 'the report of a sanitizer is not shown'; }
rm tests/two/test_takes.sh

t three/test_hang.sh <<<'while :; do sleep 0.2; done'
runner 1 -t 1 three
closes_with '0 passed, 1 failed, 0 skipped'
echo 'int main(void){return 0;}' >tests/three/test_unbuilt.c
runner 1 -b nowhere test_unbuilt
closes_with '0 passed, 1 failed, 0 skipped'
