#!/bin/bash
# SPDX-License-Identifier: MIT
# Pages whose data is missing, damaged, empty, or one event: each reports it.
. "$GM_TOP/tests/page/common.sh"
in_chromium
exec node "$GM_TOP/tests/page/check_broken.mjs"
