# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For the tests of what record receives from the kernel.
. "$GM_TOP/tests/lib.sh"

# helpers CAPTURE: "helper TID" for each task that opened files for the libraries.
helpers()
{
	local file
	for file in "$1"/*/helpers; do
		[ ! -e "$file" ] || od -An -v -tu4 -w24 "$file" | awk '{ print "helper", $1 }'
	done
}

# keep_busy: no CPU is idle from now on, by threads that give way to all others.  Some kernels drop
# what happens on an idle CPU: perf does not see who was woken there, nor why.
keep_busy()
{
	local pids=()
	for _ in $(seq "$(nproc)"); do
		chrt -i 0 sh -c 'while :; do :; done' &
		pids+=($!)
	done
	# shellcheck disable=SC2064 # these
	trap "kill ${pids[*]} 2>/dev/null" EXIT
}
