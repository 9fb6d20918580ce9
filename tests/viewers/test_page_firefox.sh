#!/bin/bash
# SPDX-License-Identifier: MIT
# The page in Firefox: all that it is in Chromium, for who reads it and for who uses it.
. "$GM_TOP/tests/page/common.sh"
in_firefox
node "$GM_TOP/tests/page/check_known.mjs"
node "$GM_TOP/tests/page/check_hands.mjs"
