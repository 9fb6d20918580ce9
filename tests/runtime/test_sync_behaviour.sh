#!/bin/bash
# SPDX-License-Identifier: MIT
# Results, errno, cancellation and stacks are those of the real functions.
. "$GM_TOP/tests/runtime/test_sync_programs/common.sh"

build behaviour
./behaviour >without
[ $? -eq 17 ] || fail "the program itself does not work"
traced ./behaviour >with
[ $? -eq 17 ] || { tail -n 3 with; fail "it ends otherwise when traced"; }
diff without with || fail "the transcripts differ"
events >events
no_complaint

# both cancelled condition waits took their mutex back, the cancelled semaphore wait just began
expect 1 ' cond_wait result=125 '
expect 1 ' cond_timedwait result=125 '
# robust mutexes were owned with EOWNERDEAD
[ "$(grep -c ' mutex_lock result=130 ' events)" -ge 4 ] || fail "no EOWNERDEAD among the events"
