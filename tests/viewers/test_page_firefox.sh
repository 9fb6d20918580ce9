#!/bin/bash
# SPDX-License-Identifier: MIT
# The page shows the known values in Firefox, and reacts to the user there, as in Chromium.
. "$GM_TOP/tests/page/common.sh"
in_firefox
node "$GM_TOP/tests/page/check_known.mjs"
node "$GM_TOP/tests/page/check_interaction.mjs"
node "$GM_TOP/tests/page/check_campaign.mjs"
