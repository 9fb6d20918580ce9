# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Skips the tests of the page if their requirements are missing.
set -e
. "$GM_TOP/tests/lib.sh"

# in_chromium, in_firefox: set the browser that browser.mjs uses
in_chromium()
{
	CHROMIUM=$(command -v chromium) || skip 'no chromium'
	export CHROMIUM
}

in_firefox()
{
	FIREFOX=$(command -v firefox-esr) || skip 'no firefox-esr'
	export FIREFOX
}

need node
[ -s "$GM_TOP/build/page.html" ] || skip 'the page was not built'
[ -e "$GM_BUILD/tests/page/installed.json" ] || skip 'npm could not get playwright-core'
GM_PAGE=$GM_TOP/build/page.html
export GM_PAGE
