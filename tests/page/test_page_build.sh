#!/bin/bash
# SPDX-License-Identifier: MIT
# What is built: one file with a place for the data, no network, and the licenses of what is in it. Without
# node or npm, or without npm's packages: an empty one, a line that says so, and no failure.
set -e
. "$GM_TOP/tests/lib.sh"
fail_shows out

# build STATUS PATTERN: into `page`, with nothing but what is in bin, saying one line that matches
build()
{
	local status=0
	env PATH="$PWD/bin" "$GM_TOP/postproc/export/html/page/build-page" work page >out 2>&1 || status=$?
	[ $status = "$1" ] || fail "exit $status, expected $1"
	[ "$(wc -l <out)" = 1 ] || fail 'not one line'
	grep -q "$2" out || fail "does not say: $2"
}

mkdir bin
for tool in sh dirname mkdir cmp rm cp; do
	ln -s "$(command -v $tool)" bin/
done
build 0 'no export --format html: install nodejs and npm'
[ -e page ] && [ ! -s page ] || fail 'not an empty page'
touch -d '2001-01-01' page
build 0 'install nodejs and npm'
[ -z "$(find page -newermt 2002-01-01)" ] || fail 'an empty page is written again'

printf '#!/bin/sh\nexit 1\n' >bin/npm
cp bin/npm bin/node
chmod +x bin/npm bin/node
build 0 'install nodejs 18 or later'
printf '#!/bin/sh\n' >bin/node
build 0 'npm could not get its packages (work/npm.log)'
[ ! -e work/installed.json ] || fail 'believes that they are there'

page=$GM_TOP/build/page.html
[ -s "$page" ] || skip 'skipped: the page was not built'
[ "$(grep -o '<!--gprof-mt-data-->' "$page" | wc -l)" = 1 ] || fail 'no place for the data, or several'
grep -q "content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\"" \
	"$page" || fail 'no policy against the network'
for package in @dagrejs/dagre d3-scale d3-selection d3-shape d3-transition d3-zoom; do
	grep -q "$package [0-9.]* (\(ISC\|MIT\))$" "$page" || fail "no license of $package"
done
grep -q 'Permission to use, copy, modify' "$page" || fail 'licenses without their text'
! grep -qE '"resolved"|https?://' "$GM_TOP"/postproc/export/html/page/package-lock.json "$GM_TOP"/tests/*/package-lock.json ||
	fail 'addresses in the lists of packages'
