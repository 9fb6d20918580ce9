#!/bin/bash
# SPDX-License-Identifier: MIT
# Pages whose data is missing, damaged, empty, or one event, in Firefox: what it decompresses and reports is its own.
. "$GM_TOP/tests/page/common.sh"
in_firefox
exec node "$GM_TOP/tests/page/check_broken.mjs"
