#!/bin/bash
# SPDX-License-Identifier: MIT
# A program cannot write anything, because of a limit or a full disk: record and report give that reason, and
# do not suggest to build the program with -pg.
. "$GM_TOP/tests/gmon/common.sh"
[ -x "$gprof_mt" ] || skip "gprof-mt is not built"
build_pg work

# 8 KiB per file are enough for record, but not for a thread table.
check()
{
	local what=$1 dir=$2 why=$3
	same "$what: exit status" 7 "$status"
	grep -q "^gprof-mt: .*is an empty capture: process [0-9]* could not write into it: $why" err ||
		fail "$what: $(cat err)"
	! grep -q -- '-pg' err || fail "$what: unexpected advice: $(cat err)"
	"$gprof_mt" report -i "$dir" quality >/dev/null 2>err && fail "$what: expected no report"
	grep -q "could not write into it: $why" err || fail "$what: report: $(cat err)"
}

fresh bash -c 'ulimit -f 8; exec "$@"' - "$gprof_mt" record -q --set kernel.source=none ./work >out 2>err
status=$?
check limit gprof-mt.data 'the limit on the size of files is too low (ulimit -f)'

# One process of two is not recorded; the other has its report.
fresh "$gprof_mt" record -q --set kernel.source=none bash -c './work; (ulimit -f 8; ./work); ./work' >out 2>err
same "the second of three: exit status" 7 $?
"$gprof_mt" report --format json quality >rows || fail "the second of three: no report"
grep -q '"process not recorded: the limit' rows || fail "the second of three: $(cat rows)"

[ "$(id -u)" = 0 ] || exit 0
mkdir disk
mount -t tmpfs -o size=28k none disk 2>/dev/null || { echo "no tmpfs: the remaining checks are skipped"; exit 0; }
trap 'umount -l disk' EXIT
"$gprof_mt" record -q --set kernel.source=none -o disk/data ./work >out 2>err
status=$?
check disk disk/data 'No space left'
exit 0
