#!/bin/bash
# SPDX-License-Identifier: MIT
# A large page: all views, few elements, and only visible views are updated.
. "$GM_TOP/tests/page/common.sh"
in_chromium
exec node "$GM_TOP/tests/page/check_big.mjs"
