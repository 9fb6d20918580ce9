#!/bin/bash
# SPDX-License-Identifier: MIT
# What the tests of the page need, or they are skipped.
set -eu

skip()
{
	echo "skipped: $1"
	exit 77
}

command -v node >/dev/null || skip 'no node'
command -v chromium >/dev/null || skip 'no chromium'
[ -s "$GM_TOP/build/page.html" ] || skip 'the page was not built'
[ -e "$GM_BUILD/tests/page/installed.json" ] || skip 'npm could not get playwright-core'
CHROMIUM=$(command -v chromium)
GM_PAGE=$GM_TOP/build/page.html
export CHROMIUM GM_PAGE
