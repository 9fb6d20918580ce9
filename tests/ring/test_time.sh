#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A ring of a time keeps that time: files whose events are all older are removed.  The recording is bare when it is
# shorter than the ring.
# shellcheck source=tests/ring/common.sh
. "$GM_TOP/tests/ring/common.sh"

need jq babeltrace2 python3
build ring_locks
unset GPROF_MT_CONFIG LD_PRELOAD

# Nothing was removed: the report covers the whole run, as that of any capture.
fresh "$gprof_mt" record --ring 3600s --set kernel.source=none --set sync.mode=all -- ./ring_locks 2 20000 \
	>out 2>err || fail "exit status $?: $(cat err)"
! grep -q 'the ring has' err || fail "expected no line on the ring, found: $(cat err)"
[ "$(ring_from gprof-mt.data)" = null ] || fail "expected the whole time, found from $(ring_from gprof-mt.data) on"
locks=$("$gprof_mt" report --format json sync | jq '[.sync[] | select(.function == "pthread_mutex_lock") | .calls] | add')
[ "$locks" = 40000 ] || fail "expected 40000 locks, found $locks"

# The program has run for more than the ring's second when it is told to end; then its first files are gone.
mkfifo input
fresh :
"$gprof_mt" record --ring 1s --set kernel.source=none --set sync.order=on -- ./ring_locks 2 300000 block \
	<input >out 2>err &
exec 3>input
until_true 60 grep -q ready out || fail "the program does not get ready: $(cat err)"
is_first_gone()
{
	! compgen -G 'gprof-mt.data/*/user/stream_1' >/dev/null || ! compgen -G 'gprof-mt.data/*/user/stream_2' >/dev/null
}
until_true 60 is_first_gone || fail "no file was removed after the ring's time: $(ls gprof-mt.data/*/user)"
exec 3>&-
wait $! || fail "exit status $?: $(cat err)"
complete_events gprof-mt.data
exit 0
