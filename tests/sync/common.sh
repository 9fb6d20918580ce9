# SPDX-License-Identifier: MIT
# For the tests of libsync_trace: babeltrace2 is the witness of what was recorded.
# shellcheck shell=bash
. "$GM_TOP/tests/lib.sh"
programs=$GM_TOP/tests/sync/programs

need babeltrace2

# traced COMMAND...: runs it with the library before it, in a fresh capture
traced()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	LD_PRELOAD=$libsync "$@"
}

# events [DIR]: one line an event, in time order: INDEX TID NAME FIELD=VALUE...
# A word from babeltrace2 on stderr fails the test.
events()
{
	local capture=gprof-mt.data
	[[ ${1:-} != */gprof-mt.data/* ]] || capture=${1%%/gprof-mt.data/*}/gprof-mt.data
	moved "$capture"
	"$GM_TOP/tests/babeltrace" --no-delta --clock-seconds ${1:-gprof-mt.data/*/user} 2>babeltrace.err |
		sed -E 's/^\[[0-9.]+\] (\([0-9]+\) )?([a-z_]+): \{ tid = ([0-9]+), index = ([0-9]+) \}, \{ (.*) \}$/\4 \3 \2 \5/; s/ = /=/g; s/,//g'
	[ "${PIPESTATUS[0]}" -eq 0 ] || { cat babeltrace.err >&2; echo "babeltrace2 failed"; }
	[ ! -s babeltrace.err ] || { cat babeltrace.err >&2; echo "babeltrace2 warned"; }
}

# expect COUNT PATTERN [FILE]: that many lines of ./events match the extended regular expression
expect()
{
	local n
	n=$(grep -Ec -- "$2" "${3:-events}")
	[ "$n" -eq "$1" ] || { tail -n 60 "${3:-events}"; fail "$n, not $1, events match: $2"; }
}

# babeltrace2 had nothing to say when ./events was made
no_complaint()
{
	! grep -q '^babeltrace2' events || fail "babeltrace2 complained: $(cat babeltrace.err)"
}
