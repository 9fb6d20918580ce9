#!/bin/bash
# SPDX-License-Identifier: MIT
# Damaged or missing unwind tables, of a program and of a library, make call paths shorter, and quality says so; they
# never make the program crash or hang, or readers fail.
. "$GM_TOP/tests/sync/common.sh"
need python3 readelf

# Not the blocking calls, which depend on how long they take.
printf '[sync]\npath_sample = off\npaths = 0ns\n[io]\nthreshold = off\n' >all.conf
export GPROF_MT_CONFIG=$PWD/all.conf
flags=(-O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fno-ipa-icf)
build paths "${flags[@]}"
mv paths program
build paths "${flags[@]}" -shared -fPIC -Dmain=library_main
mv paths library
build unwind/run_library -ldl

# paths: all call paths, within the program and the library
paths()
{
	"$gprof_mt" report --format json paths | jq -r '.paths[].path' | sed -E 's/ < (start_thread|__libc_start|0x).*//' | sort -u
}
# ends: why call paths end early
ends()
{
	"$gprof_mt" report --format json quality | jq -r '.path_ends[]?.why'
}
bad_table="an unwind table that is damaged or disagrees with the code"
no_table="code without an unwind table and without a frame pointer"
no_object="code outside of all loaded objects"
stack="the next frame is outside of the thread's known stack"
expression="an unwind rule that is not supported"

# run FILE: runs the program, or the library, with a time limit
run()
{
	case $of in
	program) traced timeout -s KILL 60 "./$1" ;;
	library) traced timeout -s KILL 60 ./run_library "./$1" ;;
	esac >out 2>err
}

n=0
# damaged ENDS KIND NUMBER: the damaged program runs as before. ENDS: the reasons why paths may end, one of them must
# occur; "complete": no path may end.
damaged()
{
	local status why=$1 kind=$2 what="$of, $2 $3"
	python3 "$GM_TOP/tests/unwind/programs/damage.py" "$of" damaged "$2" "$3" || fail "cannot damage the $what"
	run damaged
	status=$?
	[ $status = 9 ] || fail "$what: exit status $status: $(cat err)"
	[ ! -s err ] || fail "$what: $(cat err)"
	events >events
	no_complaint
	paths >got || fail "$what: report fails"
	case $kind in
	# At random, a wrong frame may look like a right one.
	frames | header) awk -F ' < ' 'NR == FNR { is[$1]; next } !($1 in is)' "$of.paths" got >wrong ;;
	*) awk 'NR == FNR { is[$0 " < "]; next }
		{ found = 0; for (path in is) found += index(path, $0 " < ") == 1 } !found' "$of.paths" got >wrong ;;
	esac
	[ ! -s wrong ] || fail "$what: wrong frames: $(cat wrong), of: $(cat "$of.paths")"
	ends >got
	if [ "$why" = complete ]; then
		[ ! -s got ] || fail "$what: paths end early: $(cat got)"
	else
		grep -qxE "$why" got || fail "$what: quality does not say why paths end: $(cat got)"
	fi
	n=$((n + 1))
}

for of in program library; do
	run $of
	[ $? = 9 ] || fail "undamaged"
	paths >$of.paths
	[ -z "$(ends)" ] || fail "undamaged: quality says that paths end early: $(ends)"
	[ -s $of.paths ] || fail "no call paths"

	for number in 1 2 3 4 5 6 7 8; do
		damaged "$bad_table" frames $number
	done
	for number in 1 2 3 4; do
		damaged "$bad_table|$no_table" header $number
	done
	damaged "$bad_table" zeros 0
	damaged "$bad_table" ones 0
	# The header leads elsewhere, or is none.
	for number in 0 4 -4 2147483647 -2147483648; do
		damaged "$bad_table" offsets $number
		damaged "$no_table|$bad_table" codes $number
	done
	for number in 0 1 2147483647 4294967295; do
		damaged "$no_table" count $number
	done
	damaged "$no_table" version 2
	damaged "$no_table" list_encoding 255
	damaged "$no_table|$bad_table" reversed 0
	damaged "$no_table" missing 0
	damaged "$no_table" outside 1152921504606846976
	damaged "$no_table" outside 4096
	# Entries that refer to themselves, to others of the wrong kind, and beyond their memory
	damaged "$bad_table" cie_of_itself 0
	damaged "$bad_table" cie_is_fde 0
	for number in 2147483647 -1 8; do
		damaged "$bad_table" cie_outside $number
	done
	for number in 0 3 -1 -16; do
		damaged "$bad_table" cie_sizes $number
		damaged "$bad_table" fde_sizes $number
	done
	for number in 0 4294967296 9223372036854775807; do
		damaged "$bad_table" fde_large_sizes $number
	done
	damaged "$bad_table" cie_names 0
	for number in 127 255; do
		damaged "$bad_table" augmentation $number
		damaged "$bad_table" fde_augmentation $number
	done
	# FDEs that overlap are told apart by where they begin.
	damaged complete ranges 2147483647
	damaged "$no_table" ranges 0
	damaged "$no_table" starts 0
	# Instructions that need a stack without bounds, do not exist, give a wrong CFA, or do not end
	damaged "$bad_table" remember 0
	damaged "$bad_table" restore 0
	damaged "$bad_table" unknown 0
	damaged "$bad_table|$no_table|$stack" cfa_register 3
	damaged "$bad_table" cfa_register 60
	damaged "$bad_table|$no_table|$no_object" cfa_offset 40
	damaged "$bad_table|$no_table|$no_object" cfa_offset 24
	damaged "$bad_table|$expression" expression_loops 0
	damaged "$bad_table" expression_long 0
done
echo "$n programs with damaged tables ran as before"
