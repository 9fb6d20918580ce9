# SPDX-License-Identifier: MIT
# Functions for the tests of libsync_trace; babeltrace2 is the witness of the recorded events.
# shellcheck shell=bash
. "$GM_TOP/tests/lib.sh"
# shellcheck disable=SC2034 # for build()
programs=$GM_TOP/tests/sync/programs

need babeltrace2

# sync.mode = auto, the default, only counts operations of a thread whose recording takes too much of its CPU time,
# which a busy machine causes.
printf '[sync]\nmode = all\npath_sample = off\n' >traced.conf
traced_conf=$PWD/traced.conf

# traced COMMAND...: runs COMMAND with libsync_trace preloaded, into a new capture; with sync.mode = all, unless
# GPROF_MT_CONFIG or gprof-mt.conf configures it
traced()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	if [ -n "${GPROF_MT_CONFIG-}" ] || [ -e gprof-mt.conf ]; then
		LD_PRELOAD=$libsync "$@"
	else
		GPROF_MT_CONFIG=$traced_conf LD_PRELOAD=$libsync "$@"
	fi
}

# events [DIR]: prints one line per event, in time order: INDEX TID NAME FIELD=VALUE... For children of fork that are
# stored together, INDEX is their number. A message of
# babeltrace2 on stderr fails the test.
events()
{
	local capture=gprof-mt.data where=${1:-gprof-mt.data/*/user} packs
	[[ ${1:-} != */gprof-mt.data/* ]] || capture=${1%%/gprof-mt.data/*}/gprof-mt.data
	moved "$capture"
	packs=$(compgen -G "${where%/user}/packed.*/user")
	"$GM_TOP/tests/babeltrace" --no-delta --clock-seconds $where $packs 2>babeltrace.err |
		sed -E 's/^\[[0-9.]+\] (\([0-9]+\) )?([a-z_]+): \{ tid = ([0-9]+), [a-z]+ = ([0-9]+) \}, \{ (.*) \}$/\4 \3 \2 \5/; s/ = /=/g; s/,//g'
	[ "${PIPESTATUS[0]}" -eq 0 ] || { cat babeltrace.err >&2; echo "babeltrace2 failed"; }
	[ ! -s babeltrace.err ] || { cat babeltrace.err >&2; echo "babeltrace2 warned"; }
}

# expect COUNT PATTERN [FILE]: exactly COUNT lines of ./events (or FILE) match the extended regular expression
expect()
{
	local n
	n=$(grep -Ec -- "$2" "${3:-events}")
	[ "$n" -eq "$1" ] || { tail -n 60 "${3:-events}"; fail "expected $1 events that match '$2', got $n"; }
}

# babeltrace2 printed no message when ./events was written
no_complaint()
{
	! grep -q '^babeltrace2' events || fail "babeltrace2 printed: $(cat babeltrace.err)"
}
