# SPDX-License-Identifier: MIT
# For the tests of samples; after gmon/common.sh.
# shellcheck shell=bash
programs=$GM_TOP/tests/sample/programs

version=$(uname -r | sed 's/[^0-9.].*//')
[ "$(printf '5.10\n%s\n' "$version" | sort -V | head -n 1)" = 5.10 ] ||
	skip "no samples are taken before Linux 5.10"

# sampling HZ: what programs are to be run with from here on.
sampling()
{
	printf '[sample]\nhz = %s\n' "$1" >sample.conf
	export GPROF_MT_CONFIG=$PWD/sample.conf
}

# check WHAT ARGUMENT...: see check.py
check()
{
	python3 "$programs/check.py" "$@" || fail "$*"
}

# self PROGRAM FILE FUNCTION: its seconds, as stock gprof's flat profile has them.
self()
{
	gprof -b -p "$1" "$2" 2>gprof.err | awk -v function_name="$3" '$NF == function_name { print $3 }'
	[ ! -s gprof.err ] || fail "gprof $* says: $(cat gprof.err)"
}
