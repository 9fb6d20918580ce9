#!/bin/bash
# SPDX-License-Identifier: MIT
# A build without a BPF compiler or without libbpf has no BPF programs and reports so; `auto` then uses the
# next best source, for that reason.
. "$GM_TOP/tests/lib.sh"
! with_sanitizers || skip "builds without sanitizers"

# built LACKS: builds gprof-mt without LACKS from the objects of this build
built()
{
	rm -rf "$1" && mkdir "$1" && cp -r --preserve=timestamps "$GM_BUILD"/{obj,generated,page,page.html} "$1" 2>/dev/null
	cp --preserve=timestamps "$GM_BUILD"/*.{so,a} "$1"
	# That this build was made without BPF programs, too.
	rm -f "$1"/obj/postproc/record/bpf/absent.o
	make -C "$GM_TOP" --no-print-directory B="$PWD/$1" BPF_LACKS="$1" "$PWD/$1/gprof-mt" >make.log 2>&1 ||
		fail "make: $(cat make.log)"
	grep -q "without BPF programs: $1 is not installed" make.log || fail "make says: $(cat make.log)"
	! readelf -d "$1/gprof-mt" | grep -q libbpf || fail "it is linked with libbpf"
}

for lacks in libbpf clang; do
	built $lacks
	$lacks/gprof-mt doctor >doctor || fail "doctor: exit status $?"
	grep -A 1 "^poor *BPF programs *this gprof-mt was built without $lacks" doctor | grep -q 'libbpf-dev' ||
		fail "doctor: $(cat doctor)"
	rm -rf data
	$lacks/gprof-mt record -q -o data true >out 2>err || fail "record: exit status $?: $(cat err)"
	! grep -q BPF err || fail "unexpected message about BPF: $(cat err)"
	! can_trace || [ "$(info 'kernel source' data)" = perf ] || [ "$(info 'kernel source' data)" = lttng ] ||
		fail "unexpected source of auto: $(info kernel data)"
	$lacks/gprof-mt record -o named --set kernel.source=bpf true >out 2>err || fail "by name: exit status $?"
	grep -q "not recorded here: scheduling events (BPF programs: .*built without $lacks.*); see gprof-mt doctor" err || fail "by name: $(cat err)"
	rm -rf named
done
