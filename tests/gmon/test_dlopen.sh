#!/bin/bash
# SPDX-License-Identifier: MIT
# Libraries are loaded at run time, unloaded and loaded again; two files with the same name have two profiles.
. "$GM_TOP/tests/gmon/common.sh"

mkdir a b
compile_pg -fPIC -shared -o a/plugin.so library.c
compile_pg -fPIC -shared -nostartfiles -o b/plugin.so library.c
build_pg plugin_user
fresh ./plugin_user a/plugin.so || fail "exit status $?"
wanted="library_inner 40
library_outer 20"
same "loaded twice" "$wanted" "$(flat a/plugin.so "$(folder)/gmon.merged.plugin.so")"
same "calls files" "0 library_inner 40
0 library_outer 20
0 main 1" "$(calls "$(folder)")"

# The library was loaded by a relative name; reports find it from any directory.
here=$PWD
same "names in a report" "library_inner 40
library_outer 20
main 1" "$(cd / && "$GM_BUILD/gprof-mt" report -i "$here/gprof-mt.data" flat |
	awk '$4 ~ /^[0-9]+$/ { print $NF, $4 }' | LC_ALL=C sort)"

KEEP=1 fresh ./plugin_user a/plugin.so b/plugin.so || fail "exit status $?"
same "one of two of that name" "$wanted" "$(flat a/plugin.so "$(folder)/gmon.merged.plugin.so")"
same "the other" "$wanted" "$(flat b/plugin.so "$(folder)/gmon.merged.plugin.so~2")"

# No start files: there is no _init to stand for the caller, and still no call is lost.
fresh ./plugin_user b/plugin.so || fail "exit status $?"
same "without DT_INIT" "$wanted" "$(flat b/plugin.so "$(folder)/gmon.merged.plugin.so")"
exit 0
