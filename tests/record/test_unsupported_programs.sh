#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs of which less can be recorded: one line says what, and they run all the same.
. "$GM_TOP/tests/lib.sh"
cat >hello.c <<'END'
#include <stdio.h>
int main(void)
{
	puts("hello");
	return 4;
}
END

# says REGEX PROGRAM...: runs, and says so in one line.
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
says 'no call graph: \./plain was not built with -pg; synchronization is traced' ./plain
PATH=$PWD:$PATH says "no call graph: $PWD/plain was not built with -pg" plain
printf '#!%s\necho hello\nexit 4\n' /bin/sh >script && chmod +x script
says '\./script is a script: traced are /bin/sh and what it starts' ./script
printf 'echo hello\nexit 4\n' >shell && chmod +x shell
says '\./shell is a script: traced are /bin/sh' ./shell
if "$CC" -static -o static hello.c 2>/dev/null; then
	says 'no call graph, no synchronization: \./static is linked statically' ./static
fi
if "$CC" -m32 -o narrow hello.c 2>/dev/null; then
	says 'no call graph, no synchronization: \./narrow is no 64-bit' ./narrow
	! grep -q 'ERROR: ld.so' err || fail "the loader complains: $(cat err)"
fi
if [ "$(id -u)" = 0 ]; then
	cp plain privileged && chown 65534 privileged && chmod 4755 privileged
	says 'no call graph, no synchronization: \./privileged is set-uid' ./privileged
fi

# Built with -pg there is nothing to say, whichever way it counts.
for flags in "" "-mfentry" "-no-pie"; do
	"$CC" -pg $flags -o profiled hello.c || fail "cannot compile with -pg $flags"
	"$gprof_mt" record --profile applic-only ./profiled >out 2>err
	[ $? = 4 ] && ! grep -q 'no call graph:' err || fail "-pg $flags: $(cat err)"
done
