#!/bin/bash
# SPDX-License-Identifier: MIT
# The built page is one file with a marker for the data and no network access. Without esbuild the page is empty,
# one line tells so, and the build does not fail.
set -e
. "$GM_TOP/tests/lib.sh"
fail_shows out

# build STATUS PATTERN: into `page`, with nothing but what is in bin, saying one line that matches
build()
{
	local status=0
	env PATH="$PWD/bin" "$GM_TOP/postproc/export/html/page/build-page" work page >out 2>&1 || status=$?
	[ $status = "$1" ] || fail "exit $status, expected $1"
	[ "$(wc -l <out)" = 1 ] || fail 'expected one line'
	grep -q "$2" out || fail "no message '$2': $(cat out)"
}

mkdir bin
for tool in sh dirname mkdir mv sed; do
	ln -s "$(command -v $tool)" bin/
done
build 0 '^  without export --format html: install esbuild, and run make again$'
[ -e page ] && [ ! -s page ] || fail 'expected an empty page'
touch -d '2001-01-01' page
build 0 'install esbuild'
[ -z "$(find page -newermt 2002-01-01)" ] || fail 'an empty page is written again'

# One that cannot run, as npm's without node, counts as missing.
printf '#!/bin/sh\nexit 127\n' >bin/esbuild
chmod +x bin/esbuild
build 0 'install esbuild'
printf '#!/bin/sh\n[ "$1" = --version ] && exit\necho "error: main.js:1" >&2\nexit 1\n' >bin/esbuild
chmod +x bin/esbuild
build 1 '^error: main.js:1$'
[ ! -s page ] || fail 'a page in spite of an error in the modules'

page=$GM_TOP/build/page.html
[ -s "$page" ] || skip 'skipped: the page was not built'
[ "$(grep -o '<!--gprof-mt-data-->' "$page" | wc -l)" = 1 ] || fail 'expected one marker for the data'
grep -q "content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\"" \
	"$page" || fail 'no policy against the network'
! grep -qE '^/\*(STYLE|SCRIPT)\*/$' "$page" || fail 'the style or the modules are not in it'
[ "$(grep -c '</script>' "$page")" = 2 ] || fail 'the text of a script ends its element'
! grep -qE '"resolved"|https?://' "$GM_TOP"/tests/*/package-lock.json || fail 'addresses in the lists of packages'

# The page needs no packages but its own modules: each import is of a file here.
! grep -hE "^(import|export) .* from '" "$GM_TOP"/postproc/export/html/page/src/{,*/}*.js | grep -vE "from '\.\.?/" ||
	fail 'imports a package'
