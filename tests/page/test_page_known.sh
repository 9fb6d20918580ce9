#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of a capture with sums known by hand: every view, for all and for a part of the time.
. "$GM_TOP/tests/page/common.sh"
in_chromium
exec node "$GM_TOP/tests/page/check_known.mjs"
