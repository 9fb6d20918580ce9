#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of a real run: its figures are those of the report on the same capture.
. "$GM_TOP/tests/page/common.sh"
in_chromium

"$gprof_mt" record -q -o run -- "$GM_BUILD/examples/philosophers" 5 50
"$gprof_mt" export -i run --format html -o run.html
"$gprof_mt" report -i run --format json locks threads critical-path >report.json
exec node "$GM_TOP/tests/page/check_real.mjs" run.html report.json
