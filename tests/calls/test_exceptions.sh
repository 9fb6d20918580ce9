#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls that end by exceptions, some of them rethrown: each is recorded, with the returns that the code
# reports, and shown at its depth.
. "$GM_TOP/tests/calls/common.sh"
need g++ jq
configure

# With -O2 exception handlers are separate from their function.
for flags in -pg "-pg -mfentry -minstrument-return=call" \
	"-O2 -pg -mfentry -minstrument-return=call" "-finstrument-functions -DEXITS_TOLD"; do
	exits=--exits
	[ "$flags" != -pg ] || exits=--no-exits
	# shellcheck disable=SC2086 # the flags are split on purpose
	build_from exceptions exceptions.cc $flags
	rm -f depth.*
	fresh ./exceptions || fail "$flags: exit status $?"
	records ./exceptions --compare $exits || fail "$flags"
	[ "$(cat log.* | tr -cd e | wc -c)" -gt 300 ] || fail "$flags: expected more than 300 calls"
	# Without returns the caller of a call is unknown.
	[ "$flags" != -pg ] || continue
	for depths in depth.*; do
		"$GM_BUILD/gprof-mt" history --calls --tid "${depths#depth.}" --format json |
			jq -r '.calls[] | select(.event != "return") | "\(.function) \(.depth)"' |
			awk '/^run/ { n = $NF + 1 } /^f[a-e] / { print $1, $2 - n }' >got || fail "$flags: $depths"
		cmp -s "$depths" got || fail "$flags: $depths: $(diff "$depths" got | head -20)"
	done
done
exit 0
