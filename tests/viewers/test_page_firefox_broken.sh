#!/bin/bash
# SPDX-License-Identifier: MIT
# Firefox shows pages whose data is missing, damaged, empty, or a single event. It is tested in addition to Chromium
# because browsers differ in decompression and its errors.
. "$GM_TOP/tests/page/common.sh"
in_firefox
exec node "$GM_TOP/tests/page/check_broken.mjs"
