#!/bin/bash
# SPDX-License-Identifier: MIT
# A build without LTTng-UST says in one line what it lacks; doctor gives a remedy, and none where it is not needed.
. "$GM_TOP/tests/lib.sh"
! with_sanitizers || skip "builds without sanitizers"

mkdir without && cp -r --preserve=timestamps "$GM_BUILD"/obj without && cp "$gprof_mt" "$libgmon" without || fail copy
cp -a "$GM_BUILD/gprof-mt.preload" without
make -C "$GM_TOP" --no-print-directory B="$PWD/without" SYNC_UST= "$PWD/without/libsync_trace.so" >make.log 2>&1 ||
	fail "make: $(cat make.log)"
[ "$(grep -c '^  without record --backend lttng: install liblttng-ust-dev' make.log)" = 1 ] || fail "make says: $(cat make.log)"
without/gprof-mt doctor >out || fail "doctor: exit status $?"
grep -A 1 '^poor *LTTng-UST *libsync_trace_ust.so is missing' out | grep -q 'install liblttng-ust-dev; make' || fail "doctor: $(cat out)"
without/gprof-mt record --backend lttng true >out 2>err
[ $? = 1 ] && grep -q 'install liblttng-ust-dev' err || fail "record: $(cat err)"
[ -e "$GM_BUILD/libsync_trace_ust.so" ] || exit 0
cp "$GM_BUILD/libsync_trace_ust.so" without
without/gprof-mt doctor >out || fail "doctor: exit status $?"
! grep LTTng-UST out || fail "with the library: $(cat out)"
