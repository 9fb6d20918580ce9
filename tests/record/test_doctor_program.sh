#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor PROGRAM: each piece of its advice works. The program that is built or started as advised has "ok" where the
# other had none.
. "$GM_TOP/tests/lib.sh"

# line CHECK PROGRAM: the last line on it, and the one below
line()
{
	"$gprof_mt" doctor "$2" >out 2>err || fail "doctor $2: exit status $?: $(cat out err)"
	grep -A 1 -E "^(ok|poor|no) +$1 " out | tail -n 2
}

# lacks CHECK PROGRAM ADVICE: doctor gives this advice on the program
lacks()
{
	[ "$(line "$1" "$2" | sed -n '/^ok/d; s/^ *-> //p')" = "$3" ] || fail "$2: expected advice: $3: got $(cat out)"
}

# has CHECK PROGRAM
has()
{
	line "$1" "$2" | grep -qE "^ok +$1 " || fail "$2: $1 not ok: $(cat out)"
}

echo 'int main(void) { return 0; }' >app.c
"$CC" app.c -o plain && "$CC" -s app.c -o stripped || fail "cannot compile"
lacks calls ./plain 'compile and link with: gcc -pg -g -O2'
gcc -pg -g -O2 app.c -o counted || fail "cannot compile"
has calls ./counted
lacks names ./plain 'compile with: -g'
has names ./counted
lacks names ./stripped 'do not strip it, or install its package of debug symbols'

# Static programs.
"$CC" -static -pg -g app.c -o static || fail "cannot compile"
lacks calls ./static 'link with: -l:libgmon_mt.a'
"$CC" -static -pg -g app.c -o static_counted -L"$GM_BUILD" -l:libgmon_mt.a || fail "cannot link"
has calls ./static_counted
lacks synchronization ./static 'link without -static'
has synchronization ./counted

# Programs with more rights than the user.
if can_be_other; then
	cp plain privileged && chown 65534 privileged && chmod u+s privileged
	if [ -u privileged ] && ! findmnt -no OPTIONS -T . 2>/dev/null | grep -q nosuid; then
		lacks synchronization ./privileged 'record a copy of your own: cp PROGRAM .'
		mkdir copy
		(cd copy && cp ../privileged .)
		has synchronization copy/privileged
	fi
fi

# AddressSanitizer that refuses preloaded libraries.
if echo 'const char *__asan_default_options(void) { return "verify_asan_link_order=1"; } int main(void) { return 0; }' >asan.c &&
	"$CC" -fsanitize=address -rdynamic asan.c -o asan 2>/dev/null; then
	lacks synchronization ./asan 'export ASAN_OPTIONS=verify_asan_link_order=0'
	(
		export ASAN_OPTIONS=verify_asan_link_order=0
		has synchronization ./asan
		"$gprof_mt" record -q -o asan.data ./asan 2>err || fail "asan: $(cat err)"
		"$gprof_mt" report -i asan.data quality | grep -q 'nothing lost' || fail "asan: $("$gprof_mt" report -i asan.data quality)"
	) || exit
fi

# A program of musl, and scripts.
if command -v musl-gcc >/dev/null; then
	musl-gcc -g app.c -o musl || fail "musl-gcc"
	lacks synchronization ./musl 'compile and link it with glibc'
fi
printf '#!%s\n' "$PWD/static" >script
chmod +x script
lacks program ./script 'run it by another interpreter'
printf '#!/bin/sh\n' >script
has program ./script

# A program for another processor: an ELF header of i386.
head -c 64 plain | python3 -c '
import sys
header = bytearray(sys.stdin.buffer.read())
header[4], header[18] = 1, 3
sys.stdout.buffer.write(header)' >foreign
chmod +x foreign
lacks program ./foreign 'compile it for x86-64'
exit 0
