#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of `suggest --against` in Chromium and Firefox: complete, without scripts and requests, also in a narrow
# window.
. "$GM_TOP/tests/page/common.sh"
. "$GM_TOP/tests/suggest/common.sh"
captures slow
captures broken -DBROKEN
"$gprof_mt" suggest --runs 2 --format html --output page.html slow.a slow.t --against broken.a --against broken.t 2>err ||
	fail "html: $(cat err)"
in_chromium
node "$GM_TOP/tests/viewers/check_suggest_page.mjs" page.html
in_firefox
node "$GM_TOP/tests/viewers/check_suggest_page.mjs" page.html
