# SPDX-License-Identifier: MIT
# Functions for the tests of samples; source gmon/common.sh first.
# shellcheck shell=bash
programs=$GM_TOP/tests/sample/programs

version=$(uname -r | sed 's/[^0-9.].*//')
[ "$(printf '5.10\n%s\n' "$version" | sort -V | head -n 1)" = 5.10 ] ||
	skip "sampling needs Linux 5.10"

# sampling HZ: sets the sampling rate for the programs that run from now on.
sampling()
{
	printf '[sample]\nhz = %s\n' "$1" >sample.conf
	export GPROF_MT_CONFIG=$PWD/sample.conf
}

# check MODE ARGUMENT...: see check.py
check()
{
	python3 "$programs/check.py" "$@" || fail "$*"
}

# self PROGRAM FILE FUNCTION: prints its seconds in the flat profile of stock gprof.
self()
{
	gprof -b -p "$1" "$2" 2>gprof.err | awk -v function_name="$3" '$NF == function_name { print $3 }'
	[ ! -s gprof.err ] || fail "gprof $* says: $(cat gprof.err)"
}
