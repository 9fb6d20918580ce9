#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof libfoo.so FILE` reads the calls of a library's functions; calls from outside the library are
# attributed to the entry point of the library or program.
. "$GM_TOP/tests/gmon/common.sh"

compile_pg -fPIC -shared -Wl,-soname,libtest.so.3 -o libtest.so.3 library.c
cp libtest.so.3 libtest.so
build_pg library_user -L. -ltest -Wl,-rpath,"$PWD"
fresh ./library_user || fail "exit status $?"
dir=$(folder)

in_program="callback 30
here 10
main 1
there 10"
in_library="library_from_program 10
library_inner 40
library_outer 20"
same "gmon.out" "$in_program" "$(flat library_user gmon.out)"
same "the thread's file for the program" "$in_program" "$(flat library_user "$dir/gmon.0.${dir##*/}")"
same "callbacks come from outside" 30 "$(arc library_user gmon.out _start callback)"
file=$(ls "$dir"/gmon.0.*.libtest.so.3)
same "the thread's file for the library" "$in_library" "$(flat libtest.so.3 "$file")"
same "merged for the library" "$in_library" "$(flat libtest.so.3 "$dir"/gmon.merged.libtest.so.3)"
same "inside the library" 40 "$(arc libtest.so.3 "$file" library_outer library_inner)"
same "from outside" 20 "$(arc libtest.so.3 "$file" _init library_outer)"
same "calls files name callers across objects" 10 \
	"$(calls --arcs "$dir" | awk '$2 == "here" && $3 == "library_outer" { print $4 }')"
