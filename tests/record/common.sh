# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Functions for the tests of record's kernel events.
. "$GM_TOP/tests/lib.sh"

# helpers CAPTURE: prints "helper TID" for each task that opened files for the libraries.
helpers()
{
	local file
	for file in "$1"/*/helpers; do
		[ ! -e "$file" ] || od -An -v -tu4 -w24 "$file" | awk '{ print "helper", $1 }'
	done
}

# keep_busy: from now on no CPU is idle; the busy threads yield to all others. Some kernels drop events on an
# idle CPU, so that perf does not record who was woken there, and why.
keep_busy()
{
	local pids=()
	for _ in $(seq "$(nproc)"); do
		chrt -i 0 sh -c 'while :; do :; done' &
		pids+=($!)
	done
	# shellcheck disable=SC2064 # expanded now on purpose
	trap "kill ${pids[*]} 2>/dev/null" EXIT
}
