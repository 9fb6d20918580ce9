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
servers='do not strip it, install its package of debug symbols, or name a server that has them in DEBUGINFOD_URLS'
lacks names ./stripped "$servers"
(
	export DEBUGINFOD_URLS="file://$PWD/server/" DEBUGINFOD_CACHE_PATH="$PWD/fetched"
	lacks names ./stripped 'if they do not have it: do not strip it, or install its package of debug symbols'
	[ ! -e fetched ] || fail "doctor asked a server"
) || exit

# A separate debug file beside the program.
"$CC" -g app.c -o separate && mkdir elsewhere && objcopy --only-keep-debug separate elsewhere/separate.debug &&
	strip separate && objcopy --add-gnu-debuglink=elsewhere/separate.debug separate || fail "cannot strip"
lacks names ./separate "$servers"
mv elsewhere/separate.debug .
has names ./separate
grep -q "functions, files and lines, from $PWD/separate.debug" out || fail "$(cat out)"

"$CC" -Wl,--build-id=none app.c -o anonymous || fail "cannot link"
lacks build-id ./anonymous 'link with: -Wl,--build-id'
"$CC" -Wl,--build-id app.c -o identified || fail "cannot link"
has build-id ./identified
grep -q "$(readelf -n identified | sed -n 's/.*Build ID: //p')" out || fail "another build-id: $(cat out)"

# Call paths need unwind tables or frame pointers.
{
	for i in {1..100}; do echo "int f$i(int x) { return g(x + $i) * 2; }"; done
	echo 'int main(void) { return f1(0); }'
} | sed '1i int g(int x); int g(int x) { return x; }' >many.c
"$CC" -O1 -fno-inline -fno-asynchronous-unwind-tables many.c -o bare || fail "cannot compile"
lacks 'call paths' ./bare 'compile with: -fasynchronous-unwind-tables'
"$CC" -O1 -fno-inline -fasynchronous-unwind-tables many.c -o tables || fail "cannot compile"
has 'call paths' ./tables
"$CC" -O1 -fno-inline -fno-asynchronous-unwind-tables -fno-omit-frame-pointer many.c -o frames ||
	fail "cannot compile"
has 'call paths' ./frames

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
