#!/bin/bash
# SPDX-License-Identifier: MIT
# The lock of a capture's file `session` may outlive its last process for an instant, while another process reads
# the memory of that one. The next recording asks again; only a lock that stays is a capture in use.
. "$GM_TOP/tests/lib.sh"
need strace python3

"$gprof_mt" record -q --set kernel.source=none true || fail "record: status $?"
grep -q "^lock 1" gprof-mt.data/session || skip "this file system keeps no lock: $(stat -f -c %T .)"

mkfifo release
python3 -c '
import fcntl
session = open("gprof-mt.data/session")
fcntl.lockf(session, fcntl.LOCK_SH)
open("locked", "w").close()
open("release").read()
' &
holder=$!
until_true 60 test -e locked || fail "not locked"
"$gprof_mt" record -q --set kernel.source=none true 2>err && fail "a lock that stays was not noticed"
grep -q 'gprof-mt.data: is still being written to: a process of the capture still runs' err || fail "$(cat err)"

# Stopped where it asks again, by a signal at the first such pause.
is_stopped()
{
	grep -q -- '--- stopped by SIGSTOP ---' trace
}
: >trace
# LeakSanitizer cannot run in a traced process.
ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS-}" strace -qq -o trace -e trace=poll,fcntl -e inject=poll:signal=SIGSTOP:when=1 \
	"$gprof_mt" record -q --set kernel.source=none true 2>err &
record=$!
until_true 60 is_stopped || fail "it does not ask again: $(cat err trace)"
grep -q 'F_OFD_GETLK.*l_type=F_RDLCK' trace || fail "another pause: $(cat trace)"
echo >release
wait $holder || fail "the holder"
pkill -CONT -P $record
wait $record || fail "refused after the lock's end: $(cat err trace)"
[ -e gprof-mt.data/session ] && [ -e gprof-mt.data.old/session ] || fail "$(ls -A)"
exit 0
