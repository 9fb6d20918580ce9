#!/bin/bash
# SPDX-License-Identifier: MIT
# A child of fork unloads a module before its first event: the module's unwind rules, which it has from its parent,
# are not applied to another one at the same address.
. "$GM_TOP/tests/sync/common.sh"

# The code is equally long for both sizes of its stack frame.
cat >frame.S <<'END'
	.globl frame
	.type frame, @function
frame:
	.cfi_startproc
	sub $FRAME_BYTES, %rsp
	.cfi_adjust_cfa_offset FRAME_BYTES
	call *%rdi
	add $FRAME_BYTES, %rsp
	.cfi_adjust_cfa_offset -FRAME_BYTES
	ret
	.cfi_endproc
	.size frame, . - frame
	.section .note.GNU-stack, "", @progbits
END
"$CC" -shared -DFRAME_BYTES=1032 -o small.so frame.S && "$CC" -shared -DFRAME_BYTES=4104 -o large.so frame.S ||
	fail "cannot compile the modules"
build unwind/fork_unload -fomit-frame-pointer -fno-optimize-sibling-calls -ldl
taken()
{
	fresh "$gprof_mt" record -q --set kernel.source=none --set sync.paths=0ns -- ./fork_unload
}
retry taken # another module may have come to the address
same "paths" "wait_in_vain < frame < use < child < main
wait_in_vain < frame < use < main" "$("$gprof_mt" report --format json paths |
	jq -r '.paths[] | select(.function == "sem_timedwait") | .path' | sed -E 's/ < (__libc_start|0x).*//' | sort)"
exit 0
