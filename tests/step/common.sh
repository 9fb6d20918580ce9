# SPDX-License-Identifier: MIT
# Functions for the tests of libaccess_step.
# shellcheck shell=bash
. "$GM_TOP/tests/lib.sh"
# shellcheck disable=SC2034 # for the tests
programs=$GM_TOP/tests/step/programs
export PYTHONPATH=$GM_TOP/tests/access

need babeltrace2 python3
[ -e "$GM_BUILD/libaccess_step.so" ] || skip "libaccess_step.so was not built: libzydis-dev is missing"
! with_sanitizers || skip "the sanitizers' handlers would be stepped"

# stepped DIR COMMAND...: records, and steps through every section.
stepped()
{
	local dir=$1
	shift
	rm -rf "$dir"
	"$gprof_mt" record -q -o "$dir" --accesses=sampled --set access.budget=100 --set access.steps="${STEPS:-1000000}" \
		--set kernel.source=none --set sample.stacks=off -- "$@"
}
