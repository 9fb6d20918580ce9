#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs of which less can be recorded: one line tells what is missing, and they behave as without record.
. "$GM_TOP/tests/lib.sh"
cat >hello.c <<'END'
#include <stdio.h>
int main(void)
{
	puts("hello");
	return 4;
}
END

# says REGEX PROGRAM...: runs PROGRAM, and one line on stderr matches REGEX.
says()
{
	local regex=$1
	shift
	"$gprof_mt" record --profile applic-only "$@" >out 2>err
	[ $? = 4 ] || fail "$*: exit status; $(cat err)"
	[ "$(cat out)" = hello ] || fail "$*: $(cat out)"
	[ "$(grep -cE "$regex" err)" = 1 ] || fail "$*: $(cat err)"
}

"$CC" -o plain hello.c
says 'no counts of calls, a profile from samples: \./plain was not built with -pg; synchronization is traced' ./plain
for setting in sample.stacks=off sample.hz=0 calls.mode=off; do
	says 'no call graph: \./plain was not built with -pg; synchronization is traced' --set $setting ./plain
done
PATH=$PWD:$PATH says "no counts of calls, .*: $PWD/plain was not built with -pg" plain
printf '#!%s\necho hello\nexit 4\n' /bin/sh >script && chmod +x script
says '\./script is a script: /bin/sh and the programs that it starts are traced' ./script
printf 'echo hello\nexit 4\n' >shell && chmod +x shell
says '\./shell is a script: /bin/sh' ./shell
if "$CC" -static -o static hello.c 2>/dev/null; then
	says 'no call graph, no synchronization: \./static is linked statically' ./static
fi
if "$CC" -m32 -o narrow hello.c 2>/dev/null; then
	says 'no call graph, no synchronization: \./narrow is ' ./narrow
	! grep -q 'ERROR: ld.so' err || fail "the loader complains: $(cat err)"
fi
if can_be_other; then
	cp plain privileged && chown 65534 privileged && chmod 4755 privileged
	says 'no call graph, no synchronization: \./privileged is set-uid' ./privileged
fi

# A program built with -pg gets no message, with mcount or __fentry__.
for flags in "" "-mfentry" "-no-pie"; do
	"$CC" -pg $flags -o profiled hello.c || fail "cannot compile with -pg $flags"
	"$gprof_mt" record --profile applic-only ./profiled >out 2>err
	[ $? = 4 ] && ! grep -qE 'no (call graph|counts of calls)' err || fail "-pg $flags: $(cat err)"
done
