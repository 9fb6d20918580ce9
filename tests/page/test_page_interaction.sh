#!/bin/bash
# SPDX-License-Identifier: MIT
# What a reader does with the page: hover, zoom, range, sort, search, links, keyboard, themes, paper.
. "$GM_TOP/tests/page/common.sh"
in_chromium
exec node "$GM_TOP/tests/page/check_hands.mjs"
