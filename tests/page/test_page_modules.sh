#!/bin/bash
# SPDX-License-Identifier: MIT
# The scales and the layout of graphs, as modules without a page.
set -e
. "$GM_TOP/tests/lib.sh"
need node
exec node --no-warnings "$GM_TOP/tests/page/check_modules.mjs"
