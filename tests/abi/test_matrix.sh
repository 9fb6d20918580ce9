#!/bin/bash
# SPDX-License-Identifier: MIT
# Every entry point, in code of both compilers, in C and C++, at every optimization level, linked in every
# way: stock gprof finds exactly the calls that were made, in each thread's file and in all together.
. "$GM_TOP/tests/gmon/common.sh"
shared=("${link[@]}")
archive=$GM_BUILD/libgmon_mt.a
source=$GM_TOP/tests/abi/matrix.c
passed=0

# The calls of all threads, and of each thread.
wanted="0 leaf 200
0 main 1
0 many_arguments 50
0 middle 50
0 run_leaf 1
0 run_middle 1
1 leaf 100
1 run_leaf 1
2 leaf 100
2 many_arguments 50
2 middle 50
2 run_middle 1"

# flats FILE...: prints "NUMBER FUNCTION CALLS" of each file as flat() does, numbered from 0
flats()
{
	for file; do
		gprof -b -p matrix "$file"
	done 2>gprof.err |
		awk '/^Flat/ { n++; body = 0 } body && NF == 7 { print n - 1, $7, $4 } /^ time / { body = 1 }' |
		LC_ALL=C sort
	[ ! -s gprof.err ] || { echo "gprof says: $(<gprof.err)"; return 1; }
}

# run_and_check NAME [COMMAND...]: runs ./matrix by COMMAND and checks its files
run_and_check()
{
	local what=$1 dir
	shift
	fresh "$@" ./matrix 2>err
	same "$what: exit status" 7 $?
	same "$what: stderr" "" "$(<err)"
	dir=$(folder) || fail "$what: no folder"
	same "$what: gmon.out and each thread" "$wanted" \
		"$(flats gmon.out "$dir"/gmon.1.* "$dir"/gmon.2.*)"
	passed=$((passed + 1))
}

# way COMPILER LINKING FLAG...: one cell of the matrix
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
	"$compiler" -x $language -pthread "${flags[@]}" -o matrix "$source" -x none \
		"${with[@]}" 2>err || fail "$compiler $linking ${flags[*]}: $(cat err)"
	run_and_check "$compiler $linking ${flags[*]}" "${run[@]}"
}

# column C_COMPILER C++_COMPILER RETURNS: all cells of one compiler; RETURNS: its flag that adds exits to
# -mfentry, if it has one. Each column has its own folder, since they run in parallel.
column()
{
	mkdir "${1##*/}" && cd "${1##*/}" || exit 1
	local cc=$1 cxx=$2 returns=$3
	local fentry="-pg -mfentry" functions=-finstrument-functions

	# shellcheck disable=SC2086 # the flags are split on purpose
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

# Cells that only gcc has.
gcc_alone()
{
	local entry
	# shellcheck disable=SC2086 # the flags are split on purpose
	for entry in -pg "-pg -mfentry -minstrument-return=call" -finstrument-functions; do
		# Link-time optimization adds the calls after the linker has dropped unused libraries.
		way "$CC" pie -O2 -flto -Wl,--no-as-needed $entry
		way "$CC" static-pie -O2 $entry
	done

	# Instrumented and other objects together: functions of the latter have no counts, and their calls no
	# caller.
	for entry in "-pg" "-pg -mfentry" "-finstrument-functions"; do
		# shellcheck disable=SC2086 # the flags are split on purpose
		"$CC" -O2 -c -DPART=1 $entry -o one.o "$source" || fail "mixed $entry"
		"$CC" -O2 -c -DPART=2 -o two.o "$source" || fail "mixed $entry"
		"$CC" -pthread -o matrix one.o two.o "${shared[@]}" || fail "mixed $entry"
		fresh ./matrix
		same "mixed, $entry: exit status" 7 $?
		same "mixed, $entry" "leaf 200
many_arguments 50" "$(flat matrix gmon.out)"
		passed=$((passed + 1))
	done
}

{
	column "$CC" g++ -minstrument-return=call
	gcc_alone
	echo "$passed ways"
} &
gcc=$!
if command -v clang >/dev/null && command -v clang++ >/dev/null; then
	(
		column clang clang++ ""
		echo "$passed ways with clang"
	) || { wait $gcc; exit 1; }
else
	echo "clang is not installed: its column is skipped"
fi
wait $gcc
