#!/bin/bash
# SPDX-License-Identifier: MIT
# A filter that the library has not seen traps the call that blocks signals, and its handler jumps out.
# After a few such jumps the thread is sealed, and the library does not make that call again.
. "$GM_TOP/tests/lib.sh"

build_pg trapped_block
fresh timeout 60 ./trapped_block >out 2>err || fail "exit status $?: $(cat out err)"
[ "$(cut -d' ' -f1 out)" -le 4 ] || fail "expected at most 4 jumps, found: $(cat out)"
cat out
exit 0
