# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Sourced by tests/robust/test_*.sh.  These tests run a program many times, or for many rounds, bare
# and under the libraries, in a bounded loop, and print what they counted.
set -u

# shellcheck disable=SC2034 # used by the tests
gprof_mt=$GM_BUILD/gprof-mt LIBGMON=$GM_BUILD/libgmon_mt.so LIBSYNC=$GM_BUILD/libsync_trace.so
# shellcheck disable=SC2034
programs=$GM_TOP/tests/robust/programs

fail()
{
	echo "FAIL: $*"
	exit 1
}

# build NAME [FLAG...]: compiles programs/NAME.c to ./NAME, without our libraries.
build()
{
	local name=$1
	shift
	"$CC" -g -O1 -pthread -I "$GM_TOP/tests" -o "$name" "$programs/$name.c" "$@" ||
		fail "cannot compile $name.c"
}

# build_pg NAME [FLAG...]: the same, instrumented with -pg and linked with libgmon_mt.so.
build_pg()
{
	local name=$1
	shift
	build "$name" -pg "$@" -L "$GM_BUILD" -Wl,-rpath,"$GM_BUILD" -lgmon_mt
}

# fresh COMMAND...: runs it with no capture there.
fresh()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	"$@"
}
