#!/bin/bash
# SPDX-License-Identifier: MIT
# `make demo` ends with: the lock that costs most, where it is waited for and held, the critical path, the file of
# the page and the command for the browser. Its call graph is a worker's.
set -e
. "$GM_TOP/tests/lib.sh"
fail_shows out

mkdir build
ln -s "$GM_BUILD"/* build/
rm -f build/demo
"$GM_TOP/examples/demo" build >out 2>&1 || fail 'fails'

sed -n '/^Results:/,$p' out >results
[ "$(wc -l <results)" -le 28 ] || fail 'the results are too long'
# has PATTERN WHAT
has()
{
	grep -qE -- "$1" results || fail "the results lack $2"
}
has '^\$ .*/gprof-mt report --object crossing locks$' 'the command for locks'
has '^  0x[0-9a-f]+  mutex  crossing\.lock  +[0-9]+ +[1-9][0-9]*  ' 'the mutex'
has '^  crossing\.lock  crossing_enter \(examples/crossroad.c:[0-9]+\)  crossing_[a-z]+ \(examples/crossroad.c:[0-9]+\) +[1-9]' \
	'the wait and the place where the lock was taken'
has '^\$ .*/gprof-mt report critical-path$' 'the command for the critical path'
has '^ +[0-9]+  car-[0-9]  +[0-9.]+ [mu]?s +[0-9.]+%' 'threads of the critical path'
has '^Critical path: objects$' 'the objects of the critical path'

# The commands at the end work as they are.
sed -n 's/^The same in the terminal: *//p' results | grep -qx 'build/gprof-mt browse -i build/demo/gprof-mt.data' ||
	fail 'the results lack the command for the browser'
build/gprof-mt report -i build/demo/gprof-mt.data summary | grep -q '^  threads *11 ' || fail 'the capture is not there'
page=$(sed -n 's/^The same as a page: *//p' results)
if [ -s "$GM_TOP/build/page.html" ]; then
	[ "$page" = 'xdg-open build/demo/crossroad.html' ] && grep -q 'gprof-mt-data' build/demo/crossroad.html || fail 'no page'
else
	[[ $page == none:* ]] && grep -q 'built without its page: install esbuild' out || fail 'does not say why there is no page'
fi

graph=$(sed -n '/callgraph$/,/^\$ .*switches/p' out)
grep -q '^thread [1-9][0-9]* car-0 ' <<<"$graph" && ! grep -q '^thread 0 ' <<<"$graph" || fail "the call graph is not a worker's"
grep -qE '300/300 +crossing_enter ' <<<"$graph" || fail 'the call graph has no counts'
