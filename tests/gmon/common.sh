# SPDX-License-Identifier: MIT
# Functions for the tests of libgmon_mt; stock gprof and the known calls of each program are the witnesses.
# shellcheck shell=bash
. "$GM_TOP/tests/lib.sh"
programs=$GM_TOP/tests/gmon/programs
# shellcheck disable=SC2034 # for build()
build_flags=(-D_GNU_SOURCE -Wall)

need gprof nm python3

# compile_pg FLAG... FILE.c: compiles with -pg and only the libraries among the flags.
compile_pg()
{
	"$CC" -std=gnu17 -D_GNU_SOURCE -Wall -O1 -g -pg "${@:1:$#-1}" "$programs/${!#}" ||
		fail "cannot compile $*"
}

# preloaded COMMAND...: runs COMMAND with libgmon_mt preloaded.
preloaded()
{
	LD_PRELOAD=$libgmon "$@"
}

# calls FOLDER [INDEX]: see calls.py
calls()
{
	python3 "$GM_TOP/tests/gmon/programs/calls.py" "$@"
}

# lost FOLDER: prints the number of calls that no file has, by the thread table
lost()
{
	calls --lost "$1"
}

# folder: prints the only process folder of the capture.
folder()
{
	set -- gprof-mt.data/[0-9]*
	[ $# = 1 ] && [ -d "$1" ] || { echo "not one process folder: $*" >&2; return 1; }
	echo "$1"
}

# flat PROGRAM FILE...: prints "FUNCTION CALLS" as stock gprof counts them, sorted.
flat()
{
	gprof -b -p "$@" 2>gprof.err |
		awk 'body && NF == 7 { print $7, $4 } /^ time / { body = 1 }' | LC_ALL=C sort
	[ ! -s gprof.err ] || { echo "gprof $* says: $(cat gprof.err)"; return 1; }
}

# arc PROGRAM FILE CALLER FUNCTION: prints the calls on that arc, from the call graph of stock gprof.
arc()
{
	gprof -b -q "$1" "$2" | awk -v from="$3" -v to="$4" '
		/^-----/ { delete calls; next }
		/^\[/ { if ($(NF - 1) == to) print calls[from] + 0; next }
		NF >= 5 { sub("/.*", "", $3); calls[$4] = $3 }'
}

