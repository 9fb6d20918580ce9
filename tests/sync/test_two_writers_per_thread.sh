#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads have two writers, since a handler posts in the middle of a post, and end unnoticed: none of their
# posts is lost, however many threads there were.
. "$GM_TOP/tests/sync/common.sh"

build two_writers
printf '[sync]\nmode = all\n' >all.conf
GPROF_MT_CONFIG=$PWD/all.conf traced timeout 60 ./two_writers >out 2>err || fail "the program fails: $(cat err)"
found=$(babeltrace2 gprof-mt.data/*/user | grep -c sem_post)
[ "$found" = "$(cat out)" ] || fail "expected $(cat out) posts, got $found"
exit 0
