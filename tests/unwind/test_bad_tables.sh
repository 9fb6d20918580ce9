#!/bin/bash
# SPDX-License-Identifier: MIT
# Damaged unwind tables make call paths shorter; they never make the program crash or hang, or readers fail.
. "$GM_TOP/tests/sync/common.sh"
need python3 readelf

printf '[sync]\npath_sample = off\npaths = 0ns\n' >all.conf
export GPROF_MT_CONFIG=$PWD/all.conf
build paths -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fno-ipa-icf

# first_frames: the innermost functions of all call paths
first_frames()
{
	"$gprof_mt" report --format json paths | jq -r '.paths[].path | split(" < ")[0]' | sort -u
}
# ends: why call paths end early
ends()
{
	"$gprof_mt" report --format json quality | jq -r '.path_ends[]?.why'
}
bad_table="an unwind table that is damaged or disagrees with the code"
no_table="code without an unwind table and without a frame pointer"

traced ./paths
[ $? = 9 ] || fail "undamaged"
first_frames >wanted
[ -z "$(ends)" ] || fail "undamaged: quality says that paths end early: $(ends)"
[ -s wanted ] || fail "no call paths"

n=0
damaged() # KIND NUMBER
{
	local status
	python3 "$GM_TOP/tests/unwind/programs/damage.py" paths damaged "$1" "$2" || fail "cannot damage the program"
	traced timeout -s KILL 60 ./damaged >out 2>err
	status=$?
	[ $status = 9 ] || fail "$1 $2: exit status $status: $(cat err)"
	[ ! -s err ] || fail "$1 $2: $(cat err)"
	events >events
	no_complaint
	first_frames >got || fail "$1 $2: report fails"
	[ -z "$(comm -13 wanted got)" ] || fail "$1 $2: wrong innermost frames: $(comm -13 wanted got)"
	ends >got
	case $1 in
	header) grep -qxE "$bad_table|$no_table" got ;;
	*) grep -qx "$bad_table" got ;;
	esac || fail "$1 $2: quality does not say why paths end: $(cat got)"
	n=$((n + 1))
}
for number in 1 2 3 4 5 6 7 8; do
	damaged frames $number
done
for number in 1 2 3 4; do
	damaged header $number
done
damaged zeros 0
damaged ones 0
for number in 0 4 -4 2147483647 -2147483648; do
	damaged offsets $number
done
echo "$n programs with damaged tables ran as before"
