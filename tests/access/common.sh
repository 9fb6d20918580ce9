# SPDX-License-Identifier: MIT
# Functions for the tests of libaccess_trace; babeltrace2 is the reader of the recorded accesses.
# shellcheck shell=bash
. "$GM_TOP/tests/lib.sh"
# shellcheck disable=SC2034 # for build()
programs=$GM_TOP/tests/access/programs

need babeltrace2 python3
! with_sanitizers || skip "libtsan's hooks and the sanitizers do not fit together"

# The libraries in place of libtsan.
# shellcheck disable=SC2034 # for the tests
access_link=(-L"$GM_BUILD" -laccess_trace -lsync_trace "-Wl,-rpath,$GM_BUILD" -pthread)

# The flags of pkg-config.
read -ra access_cflags < <(sed -n 's/^Cflags: //p' "$GM_TOP/libsync-trace/access/access-trace.pc.in")

# instrumented NAME COMPILER [FLAG...]: compiles programs/NAME.c or .cc with these to ./NAME, linked with
# libaccess_trace. bare NAME COMPILER [FLAG...] compiles it to ./NAME.bare, as it is.
instrumented()
{
	local name=$1 compiler=$2 source
	shift 2
	source=$(echo "$programs/$name".c*)
	"$compiler" -O1 -g "$@" -I "$GM_TOP/tests" "${access_cflags[@]}" -c -o "$name.o" "$source" &&
		"$compiler" -o "$name" "$name.o" "${access_link[@]}" ||
		fail "cannot compile $name with $compiler $*"
}

bare()
{
	local name=$1 compiler=$2 source
	shift 2
	source=$(echo "$programs/$name".c*)
	"$compiler" -O1 -g -I "$GM_TOP/tests" -o "$name.bare" "$source" "$@" -pthread ||
		fail "cannot compile $name with $compiler $* without -fsanitize=thread"
}

# record_all DIR COMMAND...: records with every operation.
record_all()
{
	local dir=$1
	shift
	rm -rf "$dir"
	"$gprof_mt" record -q -o "$dir" --set sync.mode=all --set kernel.source=none --set sample.stacks=off -- "$@"
}

# reads COMPILER: prints flags with which it also instruments a read that a write to the same address follows.
reads()
{
	[[ $1 != clang* ]] || echo -mllvm -tsan-compound-read-before-write
}

# compilers: prints gcc, and clang if it can be used.
compilers()
{
	echo gcc
	! command -v clang >/dev/null || echo clang
}
