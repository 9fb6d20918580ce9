#!/bin/bash
# SPDX-License-Identifier: MIT
# The reader's actions on the page: hover, zoom, range, sort, search, links, keyboard, themes, printing.
. "$GM_TOP/tests/page/common.sh"
in_chromium
exec node "$GM_TOP/tests/page/check_interaction.mjs"
