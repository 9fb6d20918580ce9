#!/bin/bash
# SPDX-License-Identifier: MIT
# Sections that are stepped access the bytes that valgrind's lackey sees, and those that the compiled mode records:
# scalars, bit-fields, unaligned and volatile objects, atomics, copies of all lengths, strings, lists, arrays, C++
# containers. compare.py names the differences that remain.
. "$GM_TOP/tests/access/common.sh"
[ -e "$GM_BUILD/libaccess_step.so" ] || skip "libaccess_step.so was not built: libzydis-dev is missing"
need valgrind
export PYTHONPATH=$GM_TOP/tests/access

# stepped NAME COMPILER [FLAG...]: steps through all sections of the program, and traces it with lackey.
stepped()
{
	local name=$1
	# The region has the same address in each run.
	bare "$@" -fno-pie -no-pie
	rm -rf stepped
	LD_BIND_NOW=1 "$gprof_mt" record -q -o stepped --accesses=sampled --set access.budget=100 \
		--set access.steps=10000000 --set kernel.source=none --set sample.stacks=off "./$name.bare" >out 2>err ||
		fail "$*: $(cat err)"
	LD_BIND_NOW=1 valgrind --tool=lackey --trace-mem=yes --log-file=trace "./$name.bare" >lackey.out 2>err ||
		fail "$*: lackey: $(cat err)"
	cmp -s out lackey.out || fail "$*: the region has another address"
}

access_link+=(-no-pie)
for flag in -O0 -O1; do
	instrumented exact gcc $flag -fno-pie
	record_all compiled ./exact >compiled.out 2>err || fail "$flag: $(cat err)"
	stepped exact gcc $flag
	python3 "$GM_TOP/tests/step/compare.py" out stepped trace compiled.out compiled || fail "gcc $flag: see above"
done
stepped exact_cxx g++ -O1
python3 "$GM_TOP/tests/step/compare.py" out stepped trace || fail "g++: see above"
