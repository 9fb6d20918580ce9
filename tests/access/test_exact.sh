#!/bin/bash
# SPDX-License-Identifier: MIT
# The bytes that a section reads and writes are those that valgrind's lackey sees between its lock and its unlock: for
# scalars, bit-fields, unaligned and volatile objects, atomics, copies of all lengths, strings, lists, arrays, and C++
# containers. lackey.py names the differences that remain. With gcc's plugin the code that runs in a section is another
# one while accesses are recorded, so lackey sees a recorded run, too.
. "$GM_TOP/tests/access/common.sh"
need valgrind

printf '[sync]\nmode = off\n' >off.conf
printf '[sync]\nmode = all\n' >all.conf

# compare NAME COMPILER [FLAG...]
compare()
{
	local name=$1 compiler=$2 config=off recording=()
	shift 2
	[[ $* != *-fplugin* ]] || config=all recording=(recording)
	# The region has the same address in each run.
	access_link+=(-no-pie)
	# shellcheck disable=SC2046 # several flags
	instrumented "$name" "$compiler" "$@" -fno-pie $(reads "$compiler")
	GPROF_MT_CONFIG=$PWD/$config.conf valgrind --tool=lackey --trace-mem=yes --log-file=trace "./$name" maps >out 2>err ||
		fail "$name, $compiler $*: lackey: $(cat err)"
	record_all d "./$name" >got 2>err || fail "$name, $compiler $*: $(cat err)"
	cmp -s out got || fail "$name, $compiler $*: the region has another address"
	compiler=${compiler/g++/gcc}
	PYTHONPATH=$GM_TOP/tests/access python3 "$GM_TOP/tests/access/lackey.py" "${compiler%++}" trace maps out d \
		"${recording[@]}" ||
		fail "$name, $compiler $*: see above"
	rm -f trace
}

for flag in -O0 -O1 -O2; do
	compare exact gcc $flag
done
compare exact_cxx g++ -O2
if [ -e "$GM_BUILD/access_gate.so" ]; then
	compare exact gcc -O2 "-fplugin=$GM_BUILD/access_gate.so"
	compare exact_cxx g++ -O3 "-fplugin=$GM_BUILD/access_gate.so"
fi
if command -v clang >/dev/null; then
	compare exact clang -O2
	compare exact_cxx clang++ -O2
fi
