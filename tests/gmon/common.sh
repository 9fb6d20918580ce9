# SPDX-License-Identifier: MIT
# For the tests of libgmon_mt: stock gprof is the witness, beside what the program must have called.
# shellcheck shell=bash
set -u
programs=$GM_TOP/tests/gmon/programs
library=$GM_BUILD/libgmon_mt.so
unset GMON_OUT_PREFIX GPROF_MT_CONFIG
link=(-L"$GM_BUILD" -lgmon_mt "-Wl,-rpath,$GM_BUILD")

fail()
{
	echo "FAIL: $*"
	exit 1
}

skip()
{
	echo "$*"
	exit 77
}

for tool in gprof nm python3; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done

# compile FLAG... FILE.c: with -pg, from the folder of test programs.
compile()
{
	"$CC" -std=gnu17 -D_GNU_SOURCE -Wall -O1 -g -pg "${@:1:$#-1}" "$programs/${!#}" ||
		fail "cannot compile $*"
}

# build NAME [FLAG...]: compiles tests/gmon/programs/NAME.c to ./NAME, with -pg and our library.
build()
{
	local name=$1
	shift
	"$CC" -std=gnu17 -D_GNU_SOURCE -Wall -O1 -g -pg -pthread -o "$name" "$programs/$name.c" "$@" \
		"${link[@]}" || fail "cannot compile $name $*"
}

# link_with WORD...: what build() gives to the linker from here on.
link_with()
{
	link=("$@")
}

preloaded()
{
	LD_PRELOAD=$library "$@"
}

# moved [CAPTURE]: children of fork that did little get folders of their own
moved()
{
	"$GM_BUILD/gprof-mt" report -i "${1:-gprof-mt.data}" quality >/dev/null 2>&1
}

# calls FOLDER [INDEX]: see calls.py
calls()
{
	python3 "$GM_TOP/tests/gmon/programs/calls.py" "$@"
}

# lost FOLDER: calls that no file has, by the thread table
lost()
{
	calls --lost "$1"
}

# fresh COMMAND...: runs it without any old profile in the way.
fresh()
{
	rm -rf gmon.out gmon.*.[0-9]* gprof-mt.data gprof-mt.data.old
	"$@"
}

# folder: the only process folder of the capture.
folder()
{
	set -- gprof-mt.data/[0-9]*
	[ $# = 1 ] && [ -d "$1" ] || { echo "not one process folder: $*" >&2; return 1; }
	echo "$1"
}

# flat PROGRAM FILE...: "FUNCTION CALLS" as stock gprof counts them, sorted.
flat()
{
	gprof -b -p "$@" 2>gprof.err |
		awk 'body && NF == 7 { print $7, $4 } /^ time / { body = 1 }' | LC_ALL=C sort
	[ ! -s gprof.err ] || { echo "gprof $* says: $(cat gprof.err)"; return 1; }
}

# arc PROGRAM FILE CALLER FUNCTION: the calls on that arc, as stock gprof's call graph has them.
arc()
{
	gprof -b -q "$1" "$2" | awk -v from="$3" -v to="$4" '
		/^-----/ { delete calls; next }
		/^\[/ { if ($(NF - 1) == to) print calls[from] + 0; next }
		NF >= 5 { sub("/.*", "", $3); calls[$4] = $3 }'
}

# same WHAT EXPECTED ACTUAL
same()
{
	[ "$2" = "$3" ] || fail "$1: expected:
$2
got:
$3"
}
