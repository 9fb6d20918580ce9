#!/bin/bash
# SPDX-License-Identifier: MIT
# LTTng-UST's development package is for one library that few need: without it, all else is built and installed.
set -e
. "$GM_TOP/tests/lib.sh"
need pkg-config
fail_shows make.log

# plan EXISTS: what make would do where `pkg-config --exists lttng-ust` says EXISTS
plan()
{
	mkdir -p "$1"
	printf '#!/bin/sh\ncase "$*" in\n*lttng-ust*) exec %s ;;\nesac\nexec %s "$@"\n' "$1" "$(command -v pkg-config)" >"$1/pkg-config"
	chmod +x "$1/pkg-config"
	PATH=$PWD/$1:$PATH make -C "$GM_TOP" --no-print-directory -n B="$PWD/$1/build" install DESTDIR="$PWD/$1" >make.log 2>&1 ||
		fail 'make fails'
	grep -q 'install .*libsync_trace\.so' make.log || fail 'installs no libraries'
}

plan true
grep -q 'libsync_trace_ust' make.log || fail 'does not build the provider of LTTng-UST'
plan false
grep -q '^rm -f .*libsync_trace_ust.so' make.log || fail 'leaves the provider of an earlier installation'
! grep -v '^rm -f' make.log | grep 'libsync_trace_ust' || fail 'builds the provider of LTTng-UST without its development package'
