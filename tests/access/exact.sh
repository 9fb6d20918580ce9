# SPDX-License-Identifier: MIT
# For the tests that compare the programs of exact/ with valgrind's lackey: the bytes that a section reads and writes
# are those that lackey sees between its lock and its unlock. Each program has a subject of its own. lackey.py names the
# differences that remain.
# shellcheck shell=bash
. "$GM_TOP/tests/access/common.sh"
need valgrind
programs=$GM_TOP/tests/access/exact

printf '[sync]\nmode = off\n' >off.conf
printf '[sync]\nmode = all\n' >all.conf
# The region has the same address in each run.
access_link+=(-no-pie)

# compare NAME COMPILER [FLAG...]: with gcc's plugin, the code that runs in a section is another one while accesses are
# recorded, so lackey sees a recorded run, too.
compare()
{
	local name=$1 compiler=$2 kind=gcc config=off recording=()
	shift 2
	[[ $* != *-fplugin* ]] || config=all recording=(recording)
	[[ $compiler != clang* ]] || kind=clang
	# shellcheck disable=SC2046 # several flags
	instrumented "$name" "$compiler" "$@" -fno-pie $(reads "$compiler")
	GPROF_MT_CONFIG=$PWD/$config.conf valgrind --tool=lackey --trace-mem=yes --log-file=trace "./$name" maps >out 2>err ||
		fail "$name, $compiler $*: lackey: $(cat err)"
	record_all d "./$name" >got 2>err || fail "$name, $compiler $*: $(cat err)"
	cmp -s out got || fail "$name, $compiler $*: the region has another address"
	PYTHONPATH=$GM_TOP/tests/access python3 "$GM_TOP/tests/access/lackey.py" $kind trace maps out d "${recording[@]}" ||
		fail "$name, $compiler $*: see above"
	rm -f trace
}

# compare_all C CXX [FLAG...]: all programs, compiled by these.
compare_all()
{
	local c=$1 cxx=$2 source
	shift 2
	for source in "$programs"/*.c; do
		compare "$(basename "${source%.c}")" "$c" "$@"
	done
	for source in "$programs"/*.cc; do
		compare "$(basename "${source%.cc}")" "$cxx" -std=gnu++17 "$@"
	done
}
