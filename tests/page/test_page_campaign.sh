#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of a campaign with figures known by hand: words, ranking by each metric, plots, links, themes, the keyboard.
. "$GM_TOP/tests/page/common.sh"
in_chromium
exec node "$GM_TOP/tests/page/check_campaign.mjs"
