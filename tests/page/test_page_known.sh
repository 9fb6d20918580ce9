#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of a capture whose sums are known by hand: every view, whole and for a part of the time.
. "$GM_TOP/tests/page/common.sh"
in_chromium
exec node "$GM_TOP/tests/page/check_known.mjs"
