#!/bin/bash
# SPDX-License-Identifier: MIT
# Every command in gprof-mt(7) works as printed there, and prints something; man formats each manual page
# without a warning, within 80 columns.
. "$GM_TOP/tests/lib.sh"
need groff

man=$GM_TOP/postproc/man
export PATH=$GM_BUILD:$PATH LIBRARY_PATH=$GM_BUILD LD_LIBRARY_PATH=$GM_BUILD
unset GPROF_MT_CONFIG
cp "$GM_TOP"/examples/{philosophers.c,example.h} .

sed -n 's/^\$ //p' "$man/gprof-mt.7" | sed 's/\\-/-/g' >commands
[ "$(wc -l <commands)" -ge 15 ] || fail "expected at least 15 commands, got $(wc -l <commands): $(cat commands)"
while read -r command; do
	eval "$command" >out 2>err </dev/null || fail "$command: status $?: $(cat err)"
	case $command in
	*doctor* | *report* | *history* | *timeline*) [ -s out ] || fail "$command: prints nothing" ;;
	*graph*) grep -q -- '^digraph' "${command##* }" || fail "$command: no graph" ;;
	*record*) grep -q '^gprof-mt: .*1 process, 6 threads; 6 call graphs' err || fail "$command: $(cat err)" ;;
	esac
	case $command in
	*lock-order*) ! grep -v label= order.dot | grep -q -- '->' || fail "unexpected nested locks: $(cat order.dot)" ;;
	*timeline*) grep -q phil-0 out || fail "expected the timeline of a philosopher: $(head -3 out)" ;;
	*--calls*) grep -q example_alloc out || fail "expected the calls of main(): $(head -3 out)" ;;
	esac
done <commands

# Each command has its page and is listed in gprof-mt(1).
for command in $(gprof-mt --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'); do
	[ -e "$man/gprof-mt-$command.1" ] || fail "there is no gprof-mt-$command(1)"
	grep -q "gprof-mt-$command" "$man/gprof-mt.1" || fail "gprof-mt(1) does not name gprof-mt-$command(1)"
done
for page in "$man"/*.[157]; do
	groff -man -Tutf8 -ww -rF0 "$page" >/dev/null 2>warnings
	[ ! -s warnings ] || fail "$page: $(head -5 warnings)"
	groff -t -man -Tascii -P -cbou -rLL=80n "$page" | awk 'length > 80' >wide
	[ ! -s wide ] || fail "$page: wider than 80 columns: $(head -5 wide)"
done
