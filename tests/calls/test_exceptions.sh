#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls that exceptions end, some of them thrown again: each is recorded, with the returns that the
# code tells of, and shown as deep as it was.
. "$GM_TOP/tests/calls/common.sh"
need g++ jq
configure

# With -O2 handlers of exceptions are apart from the function that they belong to.
for flags in -pg "-pg -mfentry -minstrument-return=call" \
	"-O2 -pg -mfentry -minstrument-return=call" "-finstrument-functions -DEXITS_TOLD"; do
	exits=--exits
	[ "$flags" != -pg ] || exits=--no-exits
	# shellcheck disable=SC2086 # several flags
	build_from exceptions exceptions.cc $flags
	rm -f depth.*
	fresh ./exceptions || fail "$flags: exit status $?"
	records ./exceptions --compare $exits || fail "$flags"
	[ "$(cat log.* | tr -cd e | wc -c)" -gt 300 ] || fail "$flags: few calls"
	# Without returns nobody can tell whose caller is whose.
	[ "$flags" != -pg ] || continue
	for depths in depth.*; do
		"$GM_BUILD/gprof-mt" history --calls --tid "${depths#depth.}" --format json |
			jq -r '.calls[] | select(.event != "return") | "\(.function) \(.depth)"' |
			awk '/^run/ { n = $NF + 1 } /^f[a-e] / { print $1, $2 - n }' >got || fail "$flags: $depths"
		cmp -s "$depths" got || fail "$flags: $depths: $(diff "$depths" got | head -20)"
	done
done
exit 0
