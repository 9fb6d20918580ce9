#!/bin/bash
# SPDX-License-Identifier: MIT
# Sections that are stepped access the bytes that valgrind's lackey sees, and those that the compiled mode records, in
# the programs of access/exact. compare.py names the differences that remain.
. "$GM_TOP/tests/access/common.sh"
[ -e "$GM_BUILD/libaccess_step.so" ] || skip "libaccess_step.so was not built: libzydis-dev is missing"
need valgrind
export PYTHONPATH=$GM_TOP/tests/access
programs=$GM_TOP/tests/access/exact

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

# compare NAME FLAG...: all three ways.
compare()
{
	local name=$1
	instrumented "$name" gcc "${@:2}" -fno-pie
	record_all compiled "./$name" >compiled.out 2>err || fail "$*: $(cat err)"
	stepped "$name" gcc "${@:2}"
	python3 "$GM_TOP/tests/step/compare.py" out stepped trace compiled.out compiled || fail "$*: see above"
}

access_link+=(-no-pie)
compare kinds -O0
for source in "$programs"/*.c; do
	compare "$(basename "${source%.c}")" -O1 -mcx16
done
for source in "$programs"/*.cc; do
	name=$(basename "${source%.cc}")
	stepped "$name" g++ -O1 -std=gnu++17
	python3 "$GM_TOP/tests/step/compare.py" out stepped trace || fail "$name: see above"
done
