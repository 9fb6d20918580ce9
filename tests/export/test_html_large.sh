#!/bin/bash
# SPDX-License-Identifier: MIT
# A page with more data than it can show: fewer items are shown one by one, and the sums are still right.
. "$GM_TOP/tests/export/html.sh"
needs_page

"$CC" -std=gnu17 -O1 -g -pthread -o bench_page "$GM_TOP/tests/bench/bench_page.c" || fail "cannot compile bench_page"
record ./bench_page 20 450 8000
page 0 page
# A sanitizer has checked everything by now; the reports of this capture would take it minutes.
with_sanitizers || same page
shows page '"combinations are shown without their call site and object" in missing'
exit 0
