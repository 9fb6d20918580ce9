#!/bin/bash
# SPDX-License-Identifier: MIT
# A -pg program gets from libgmon_mt what it gets from glibc: GMON_OUT_PREFIX, moncontrol(), calls before
# main() and after it, a profile in the working directory at exit, and the same function names.
. "$GM_TOP/tests/gmon/common.sh"

build_pg work
GMON_OUT_PREFIX=$PWD/prefix fresh ./work >out
[ ! -e gmon.out ] || fail "gmon.out in spite of GMON_OUT_PREFIX"
dir=$(folder)
same "GMON_OUT_PREFIX" "leaf 5000" "$(flat work "prefix.${dir##*/}" | grep '^leaf ')"

# An object that is initialized before libc calls mcount, as Valgrind's does.
echo 'int early;' >early.c
"$CC" -shared -fPIC -nodefaultlibs -Wl,-z,initfirst -o early.so early.c || fail "early.so"
printf '[output]\ndir = elsewhere\n' >elsewhere.conf
GPROF_MT_CONFIG=$PWD/elsewhere.conf LD_PRELOAD=$PWD/early.so fresh ./work >out
same "before libc: exit status" 7 $?
[ -d elsewhere ] || fail "before libc: the environment is not seen"
[ ! -e gprof-mt.data ] || fail "before libc: two captures"

build_pg moncontrol
fresh timeout 60 ./moncontrol || fail "moncontrol: exit status $?"
same "moncontrol" "leaf 30" "$(flat moncontrol gmon.out | grep '^leaf ')"
same "moncontrol, by thread" "0 leaf 10
1 leaf 10
2 leaf 10" "$(calls "$(folder)")"

for flags in -O1 -static; do
	if [ $flags = -static ]; then
		link_with "$GM_BUILD/libgmon_mt.a"
	fi
	build_pg constructors $flags
	fresh ./constructors || fail "constructors: exit status $?"
	same "constructors $flags" "leaf 5" "$(flat constructors gmon.out | grep '^leaf ')"
done

build_pg noreturn -O2
fresh ./noreturn || fail "noreturn: exit status $?"
same "noreturn: caller" 1 "$(arc noreturn gmon.out caller die)"
exit 0
