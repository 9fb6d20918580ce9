#!/bin/bash
# SPDX-License-Identifier: MIT
# Two readers of pprof's format read the exported profile: calls, callers, CPU time and blocked time are those
# of the reports, and each address belongs to the object with that build-id.
compare()
{
	python3 "$GM_TOP/tests/export/pprof_check.py" "$gprof_mt" "$@" >blocked || fail "$*"
}

. "$GM_TOP/tests/lib.sh"
[ -e "$GM_BUILD/tests/export/installed.json" ] || skip "npm could not get pprof-format"
. "$GM_TOP/tests/export/pprof_captures.sh"
for stack in 'one;take;pthread_mutex_lock mutex' 'other;take;pthread_mutex_lock mutex' \
	'receive;sem_wait sem' 'await;pthread_cond_wait cond'; do
	grep -qE "(^|;)waits;$stack\$" blocked || fail "no stack $stack in: $(cat blocked)"
done
exit 0
