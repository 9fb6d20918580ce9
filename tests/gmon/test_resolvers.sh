#!/bin/bash
# SPDX-License-Identifier: MIT
# A program with IFUNC resolvers, its own or those of gcc's target_clones, starts and counts. Resolvers run
# before constructors and, in a static program, before thread-local storage exists.
. "$GM_TOP/tests/gmon/common.sh"

check()
{
	local what=$1 calls
	shift
	fresh "$@" || fail "$what: exit status $?"
	calls=$(flat resolvers gmon.out | awk '$1 ~ /^(cloned|one_of_two|main)/ { n += $2 } END { print n }')
	same "$what" 21 "$calls"
}

for flags in -O1 "-O2 -mfentry" "-O1 -no-pie" "-O1 -Wl,-z,now"; do
	# shellcheck disable=SC2086 # the flags are split on purpose
	build_pg resolvers $flags
	check "$flags" ./resolvers
done
compile_pg -fPIC -shared -Dmain=library_main -o libresolvers.so resolvers.c
link_with "$GM_BUILD/libgmon_mt.a"
build_pg resolvers
check "archive" ./resolvers
build_pg resolvers -static
check "static" ./resolvers
build_pg resolvers -static -mfentry
check "static, fentry" ./resolvers

# Preloaded, with a library that is relocated before libgmon_mt.
link_with
build_pg work -Wl,--no-as-needed -L. -lresolvers -Wl,-rpath,"$PWD"
fresh preloaded ./work >out
same "preload: exit status" 7 $?
build_pg resolvers
check "preload" preloaded ./resolvers
exit 0
