#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs the readers of `make fuzz` on its earlier findings, on captures, and on variants of these with a few
# changed bytes, the same in each run. No reader may crash, use much memory for a small file, print control
# characters, or, in a sanitized build, have undefined behavior.
set -e
. "$GM_TOP/tests/lib.sh"
replay=$GM_BUILD/tests/fuzz/replay

# A sanitized build is slow, and uses more memory for a file of 4 KiB.
changes=1
case $GM_BUILD in
*address*) ;;
*) changes=20 && ulimit -v 1048576 ;;
esac

"$GM_TOP/tests/fuzz/make-seeds" "$GM_BUILD" "$PWD/seeds"
targets=$("$replay")
[ "$(wc -w <<<"$targets")" -ge 12 ] || fail "expected 12 or more targets, found: $targets"
for target in $targets; do
	inputs=("seeds/$target"/*)
	[ -s "${inputs[0]}" ] || fail "$target: expected inputs in seeds/$target, found none"
	"$replay" -m $changes "$target" "${inputs[@]}" >log 2>&1 || fail "$target: expected exit status 0, got $?: $(tail -n 3 log)"
	[ "$(grep -c "^$target " log)" = ${#inputs[@]} ] ||
		fail "$target: expected results of ${#inputs[@]} inputs, found $(grep -c "^$target " log): $(tail -n 3 log)"
done
