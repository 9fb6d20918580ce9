#!/bin/bash
# SPDX-License-Identifier: MIT
# A page of more than finds room: what is shown one by one is less, and the sums are right all the same.
. "$GM_TOP/tests/export/html.sh"
needs_page

"$CC" -std=gnu17 -O1 -g -pthread -o bench_page "$GM_TOP/tests/bench/bench_page.c" || fail "cannot compile bench_page"
record ./bench_page 20 450 8000
page 0 page
# What a sanitizer looks at is done by now; the reports of this take minutes with one.
[[ $GM_BUILD = *-address* ]] || same page
shows page '"combinations are shown without their place and object" in missing'
exit 0
