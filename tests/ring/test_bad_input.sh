#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Bad values of a ring, and settings that it excludes: one line each, and no capture.
# shellcheck source=tests/ring/common.sh
. "$GM_TOP/tests/ring/common.sh"

for bad in 0 100 1023K 30 30ms 2h x '' 10000000000000G; do
	fails 2 "invalid --ring '$bad'" record --ring "$bad" -- true
done
fails 2 "invalid value '1K' for output.ring: use off, 1s to 3600s, or bytes from 1048576" record --set output.ring=1K -- true
excluded='output.ring excludes calls.mode=history, access.mode=sampled, and lttng as sync.sink or kernel.source'
fails 2 "$excluded" record --ring 8M --set calls.mode=history -- true
fails 2 "$excluded" record --ring 8M --accesses=sampled -- true
fails 2 "$excluded" record --ring 8M --backend lttng -- true
fails 2 "$excluded" record --ring 8M --set kernel.source=lttng -- true
cpus=$(nproc)
if [ "$cpus" -gt 2 ]; then
	fails 2 "too small for a packet of kernel events of each of $cpus CPUs" record --ring 1M -- true
fi
[ ! -e gprof-mt.data ] || fail "a refused recording left a capture"
exit 0
