#!/bin/bash
# SPDX-License-Identifier: MIT
# The memory that instructions of Debian's libraries touch, as libaccess_step computes it, against the protection of
# pages: at least 30,000 different instructions, of libc, and some of libraries with vectors.
. "$GM_TOP/tests/step/common.sh"
need objdump

gcc -O1 -Wall -Wextra -D_GNU_SOURCE -I"$GM_TOP/libsync-trace" -I"$GM_TOP/libsync-trace/include" -o effects \
	"$programs/effects.c" "$GM_TOP"/libsync-trace/access/step/{effects,vectors}.c -lZydis || fail "cannot compile"

# instructions LIBRARY EVERY: prints 1 in EVERY of the library's different instructions, as hexadecimal digits.
instructions()
{
	local path
	path=$(ldconfig -p | awk -v name="$1" '$1 == name && /x86-64/ { print $NF; exit }')
	[ -n "$path" ] || return 0
	objdump -d --insn-width=16 "$path" | awk -F'\t' 'NF >= 3 { gsub(/ /, "", $2); print $2 }' | sort -u |
		awk -v every="$2" 'NR % every == 0'
}

{
	instructions libc.so.6 1
	for library in libcrypto.so.3 libstdc++.so.6 libm.so.6; do
		instructions $library 4
	done
} >instructions
./effects <instructions >out || fail "$(cat out)"
cat out
n=$(awk '/compared/ { print $1 }' out)
[ "$n" -ge 30000 ] || fail "only $n instructions were compared"
