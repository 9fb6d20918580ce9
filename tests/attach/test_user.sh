#!/bin/bash
# SPDX-License-Identifier: MIT
# An ordinary user records an own process by context-switch records: CPU time and switches agree with the kernel's
# account.
. "$GM_TOP/tests/attach/common.sh"
need python3
user=()
if [ "$(id -u)" = 0 ]; then
	need setpriv
	can_be_other || skip "this root may not become another user"
	user=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all)
	here=$(mktemp -d /tmp/gprof-mt-test.XXXXXX) || fail mktemp
	build known
	cp known "$gprof_mt" "$here"/ && chmod -R go+rX "$here"
	mkdir "$here/home" && chown 65534:65534 "$here/home"
	gprof_mt=$here/gprof-mt
	cd "$here/home" || fail cd
	build()
	{
		ln -sf ../known known
	}
fi
ulimit -l 64
"${user[@]}" "$gprof_mt" doctor >doctor 2>&1
! grep '^no *context-switch records' doctor || skip "context-switch records are not permitted"
start_known "${user[@]}"
trap 'kill $known 2>/dev/null; rm -rf "${here:-}"' EXIT

compare()
{
	witness outer.begin
	attach
	witness inner.begin
	until_true 60 has_worked inner.begin || fail "known does not work"
	witness inner.end
	end_attach
	witness outer.end
	! grep -q lost: err || { cat err; return 1; }
	"${user[@]}" "$gprof_mt" report --format json threads quality >report.json || fail report
	python3 "$programs/compare.py" "$known" "$(info 'kernel source')"
}
retry compare
