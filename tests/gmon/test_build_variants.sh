#!/bin/bash
# SPDX-License-Identifier: MIT
# For every way to build a -pg program, stock gprof reads a file for each thread with that thread's calls, and
# gmon.out with all calls; the calls files agree.
. "$GM_TOP/tests/gmon/common.sh"
archive=$GM_BUILD/libgmon_mt.a

all="leaf 5000
main 1
middle 2000
run_leaf 1
run_middle 1"
threads="0 main 1
1 leaf 1000
1 run_leaf 1
2 leaf 4000
2 middle 2000
2 run_middle 1"

# check NAME COMMAND...: ./work was built in the way that NAME describes
check()
{
	local what=$1 status
	shift
	fresh "$@" 1000 2000 >out 2>err
	status=$?
	same "$what: exit status" 7 $status
	same "$what: stderr" "" "$(cat err)"
	same "$what: gmon.out" "$all" "$(flat work gmon.out)"
	local dir
	dir=$(folder) || fail "$what"
	same "$what: main thread" "main 1" "$(flat work "$dir"/gmon.0.*)"
	same "$what: thread 1" "$(awk '$1 == 1 { print $2, $3 }' <<<"$threads")" \
		"$(flat work "$dir"/gmon.1.*)"
	same "$what: thread 2" "$(awk '$1 == 2 { print $2, $3 }' <<<"$threads")" \
		"$(flat work "$dir"/gmon.2.*)"
	same "$what: both threads summed by gprof" "leaf 5000" \
		"$(flat work "$dir"/gmon.[12].* | grep '^leaf ')"
	same "$what: arc" 4000 "$(arc work gmon.out middle leaf)"
	same "$what: main's caller" 1 "$(arc work gmon.out _start main)"
	same "$what: calls files" "$threads" "$(calls "$dir")"
	[ "$(stat -c %a gmon.out)" = 600 ] || fail "$what: gmon.out has mode $(stat -c %a gmon.out)"
}

build_pg work
check "position-independent" ./work
build_pg work -no-pie
check "no-pie" ./work
build_pg work -mfentry
check "fentry" ./work
build_pg work -mfentry -no-pie -O2
check "fentry, no-pie" ./work
build_pg work -O0
check "not optimized" ./work

# The archive, linked into a dynamic and a static program; static programs also have the names of libc.
link_with "$archive"
build_pg work
check "archive" ./work
check "archive, and preloaded as well" preloaded ./work

# An existing binary that is linked against glibc's mcount, and one without gcc's profiling start file.
link_with
build_pg work
check "preload" preloaded ./work
build_pg work -no-pie -mfentry
check "preload, fentry" preloaded ./work
compile_pg -pthread -c -o work.o work.c
"$CC" -o work work.o -pthread -L"$GM_BUILD" -lgmon_mt -Wl,-rpath,"$GM_BUILD" ||
	fail "cannot link without gcrt1.o"
check "without gcrt1.o" ./work

link_with "$archive"
for flags in "-static" "-static -mfentry"; do
	# shellcheck disable=SC2086 # several flags
	build_pg work $flags
	fresh ./work 1000 2000 >out 2>err
	same "$flags: exit status" 7 $?
	same "$flags: stderr" "" "$(cat err)"
	same "$flags: gmon.out" "$all" "$(flat work gmon.out)"
	same "$flags: thread 1" "leaf 1000
run_leaf 1" "$(flat work "$(folder)"/gmon.1.*)"
done
exit 0
