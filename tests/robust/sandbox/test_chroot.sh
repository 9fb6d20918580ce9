#!/bin/bash
# SPDX-License-Identifier: MIT
#
# After chroot(), LD_PRELOAD no longer contains the libraries if they do not exist in the new root; the
# rest of its value is kept, and memory of the program is not written to.
. "$GM_TOP/tests/lib.sh"

[ "$(id -u)" = 0 ] || skip "not root"
build chroots
unset GPROF_MT_CONFIG LD_PRELOAD
cat >expected <<-END
	LD_PRELOAD=/none/some_lib.so -> [/none/some_lib.so]
	LD_PRELOAD=/none/some_lib.so:/none/libsync_trace.so -> [/none/some_lib.so]
	LD_PRELOAD=/none/libgmon_mt.so:/none/libsync_trace.so /none/other_lib.so: -> [/none/other_lib.so]
	LD_PRELOAD= /none/some_lib.so:/none/libgmon_mt.so: /none/other_lib.so -> [/none/some_lib.so: /none/other_lib.so]
	LD_PRELOAD=/none/libgmon_mt.so -> [none]
	LD_PRELOAD= -> []
END
fresh env LD_PRELOAD="$libsync" ./chroots >out
status=$?
[ $status = 0 ] || fail "exit status $status"
diff expected out || fail "LD_PRELOAD after chroot() differs from the expected values"
echo "$(wc -l <out) values of LD_PRELOAD"
