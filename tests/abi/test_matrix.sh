#!/bin/bash
# SPDX-License-Identifier: MIT
# Every way in, from code of both compilers, in C and C++, at every optimization level, linked in
# every way: stock gprof finds the calls that were made, no more and no fewer, in each thread's file
# and in all together.
. "$GM_TOP/tests/runtime/gmon/common.sh"
shared=("${link[@]}")
archive=$GM_BUILD/libgmon_mt.a
source=$GM_TOP/tests/abi/matrix.c
passed=0

thread_1="leaf 100
run_leaf 1"
thread_2="leaf 100
many_arguments 50
middle 50
run_middle 1"
all="leaf 200
main 1
many_arguments 50
middle 50
run_leaf 1
run_middle 1"

# run_and_check WHAT [COMMAND...]: ./matrix is what WHAT says; runs it, by COMMAND
run_and_check()
{
	local what=$1 dir
	shift
	fresh "$@" ./matrix 2>err
	same "$what: exit status" 7 $?
	same "$what: stderr" "" "$(cat err)"
	dir=$(folder) || fail "$what: no folder"
	same "$what: gmon.out" "$all" "$(flat matrix gmon.out)"
	same "$what: thread 1" "$thread_1" "$(flat matrix "$dir"/gmon.1.*)"
	same "$what: thread 2" "$thread_2" "$(flat matrix "$dir"/gmon.2.*)"
	passed=$((passed + 1))
}

# way COMPILER LINKING FLAG...: one cell
way()
{
	local compiler=$1 linking=$2 language=c
	local -a flags=("${@:3}") run=() with
	[[ $compiler != *++* ]] || language=c++
	case $linking in
	pie | no-pie) with=("-$linking" "${shared[@]}") ;;
	preload) with=() run=(preloaded) ;;
	archive) with=("$archive") ;;
	static | static-pie) with=("-$linking" "$archive") ;;
	esac
	[ $linking != no-pie ] || flags+=(-fno-pie)
	[ $linking != static-pie ] || flags+=(-fPIE)
	"$compiler" -x $language -g -pthread "${flags[@]}" -o matrix "$source" -x none \
		"${with[@]}" 2>err || fail "$compiler $linking ${flags[*]}: $(cat err)"
	run_and_check "$compiler $linking ${flags[*]}" "${run[@]}"
}

# column C_COMPILER C++_COMPILER RETURNS: all that goes for one make of compiler; RETURNS: the flag
# that adds exits to -mfentry, if it has one
column()
{
	local cc=$1 cxx=$2 returns=$3
	local fentry="-pg -mfentry" functions=-finstrument-functions

	# shellcheck disable=SC2086 # several flags
	{
		way "$cc" pie -O0 -pg
		way "$cc" no-pie -O1 -pg
		way "$cc" preload -O2 -pg
		way "$cc" static -O3 -pg
		way "$cxx" archive -O0 -pg
		way "$cxx" pie -O2 -pg
		way "$cc" no-pie -O0 $fentry $returns
		way "$cc" archive -O1 $fentry
		way "$cc" pie -O2 $fentry
		way "$cc" preload -O3 $fentry
		way "$cxx" pie -O3 $fentry $returns
		way "$cc" preload -O0 $functions
		way "$cc" pie -O1 $functions
		way "$cc" static -O2 $functions
		way "$cc" no-pie -O3 $functions
		way "$cxx" pie -O2 $functions
	}
}

column "$CC" g++ -minstrument-return=call
# shellcheck disable=SC2086 # several flags
for entry in -pg "-pg -mfentry -minstrument-return=call" -finstrument-functions; do
	# The calls come to be after the linker has dropped what nobody seemed to need.
	way "$CC" pie -O2 -flto -Wl,--no-as-needed $entry
	way "$CC" static-pie -O2 $entry
done

# Objects with and without: what is not instrumented is not there, and calls by it have no caller.
for entry in "-pg" "-pg -mfentry" "-finstrument-functions"; do
	# shellcheck disable=SC2086 # several flags
	"$CC" -g -O2 -c -DPART=1 $entry -o one.o "$source" || fail "mixed $entry"
	"$CC" -g -O2 -c -DPART=2 -o two.o "$source" || fail "mixed $entry"
	"$CC" -pthread -o matrix one.o two.o "${shared[@]}" || fail "mixed $entry"
	fresh ./matrix
	same "mixed, $entry: exit status" 7 $?
	same "mixed, $entry" "leaf 200
many_arguments 50" "$(flat matrix gmon.out)"
	passed=$((passed + 1))
done

if command -v clang >/dev/null && command -v clang++ >/dev/null; then
	column clang clang++ ""
else
	echo "clang is not installed: its column is left out"
fi
echo "$passed ways"
exit 0
