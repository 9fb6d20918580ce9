# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Functions for the tests of export --format html: the data of a page, compared with the reports.
. "$GM_TOP/tests/calls/common.sh"
html=$GM_TOP/tests/export/programs/html

# needs_page: skips the test if this build has no page.
needs_page()
{
	[ -s "$GM_TOP/build/page.html" ] || skip "gprof-mt was built without its page"
}

# page STATUS FILE OPTION...: exports the page of gprof-mt.data; messages are in err
page()
{
	local want=$1 file=$2 got=0
	shift 2
	"$gprof_mt" export --format html -o "$file" "$@" 2>err || got=$?
	[ $got -eq "$want" ] || fail "export $*: exit status $got: $(cat err)"
}

# same FILE OPTION...: the figures of the page are those of the reports
same()
{
	python3 "$html/check.py" "$gprof_mt" gprof-mt.data "$@" >out || fail "$*: $(cat out)"
	cat out
}

# shows FILE EXPRESSION: the Python expression is true for the document
shows()
{
	PYTHONPATH=$html python3 -c 'import page, sys
doc = page.read(sys.argv[1])
missing = " ".join(m["what"] + ": " + m["reason"] for m in doc["missing"])
sys.exit(not eval(sys.argv[2]) and f"{sys.argv[2]}: {missing}")' "$@" || fail "$1"
}

record() { fresh "$gprof_mt" record -q "$@" >out 2>err || fail "record $*: $(cat err)"; }
