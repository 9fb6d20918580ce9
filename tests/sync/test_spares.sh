#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that have two writers, since a handler posted in the middle of a post, and whose end nobody
# tells of: however many there were, none of their posts is lost.
. "$GM_TOP/tests/sync/common.sh"

build spares
printf '[sync]\nmode = all\n' >all.conf
GPROF_MT_CONFIG=$PWD/all.conf traced timeout 60 ./spares >out 2>err || fail "the program fails: $(cat err)"
found=$(babeltrace2 gprof-mt.data/*/user | grep -c sem_post)
[ "$found" = "$(cat out)" ] || fail "$found of $(cat out) posts"
exit 0
