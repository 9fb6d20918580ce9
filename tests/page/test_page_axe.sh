#!/bin/bash
# SPDX-License-Identifier: MIT
# axe-core, a checker of accessibility, finds no violation in the page.
. "$GM_TOP/tests/page/common.sh"
in_chromium

"$gprof_mt" record -q -o run -- "$GM_BUILD/examples/philosophers" 5 50
"$gprof_mt" export -i run --format html -o run.html
exec node "$GM_TOP/tests/page/check_axe.mjs" run.html
