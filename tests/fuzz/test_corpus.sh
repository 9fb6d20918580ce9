#!/bin/bash
# SPDX-License-Identifier: MIT
# The readers that `make fuzz` tries, on what it has found so far, on captures, and on all that with a
# few bytes changed, everything the same each time: none crashes, takes much memory for a
# small file, prints what drives a terminal, or, in a sanitized build, does what C leaves undefined.
set -e
. "$GM_TOP/tests/lib.sh"
replay=$GM_BUILD/tests/fuzz/replay

# A sanitized build is slow, and takes more memory than a file of 4 KiB is worth.
changes=1
case $GM_BUILD in
*address*) ;;
*) changes=20 && ulimit -v 1048576 ;;
esac

"$GM_TOP/tests/fuzz/make-seeds" "$GM_BUILD" "$PWD/seeds"
targets=$("$replay")
[ "$(wc -w <<<"$targets")" -ge 12 ] || fail "targets: $targets"
for target in $targets; do
	inputs=("seeds/$target"/*)
	[ -s "${inputs[0]}" ] || fail "$target: nothing to read"
	"$replay" -m $changes "$target" "${inputs[@]}" >log 2>&1 || fail "$target: $(tail -n 3 log)"
	[ "$(grep -c "^$target " log)" = ${#inputs[@]} ] || fail "$target: $(tail -n 3 log)"
done
