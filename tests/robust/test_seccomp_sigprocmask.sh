#!/bin/bash
# SPDX-License-Identifier: MIT
# A filter that the library has not seen traps the call that blocks signals, and its handler jumps
# out: the thread is sealed after a few such jumps, and the library makes that call no more.
. "$GM_TOP/tests/lib.sh"

build_pg trapped_block
fresh timeout 20 ./trapped_block >out 2>err || fail "exit status $?: $(cat out err)"
[ "$(cut -d' ' -f1 out)" -le 4 ] || fail "$(cat out)"
cat out
exit 0
