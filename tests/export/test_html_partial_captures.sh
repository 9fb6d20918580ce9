#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of a history of calls, and of empty, nearly empty or damaged captures: it tells what is missing.
. "$GM_TOP/tests/export/html.sh"
needs_page

# A history of calls, with and without returns.
configure
for flags in "-pg -mfentry -minstrument-return=call" -pg; do
	# shellcheck disable=SC2086 # the flags are split on purpose
	build_from sequence sequence.c $flags
	fresh ./sequence tree 2 || fail "$flags: exit status $?"
	page 0 page
	same page
done
shows page '"Wall time: needs a history of calls with returns" in missing'
rm gprof-mt.conf

# No data, and nearly none.
record --profile applic-only --set sample.hz=0 true
page 0 page
shows page 'doc["waits"]["n"] == 0 and doc["objects"] == [] and doc["findings"] == []'
shows page '"synchronization: no operation was recorded" in missing and "no calls were counted" in missing'
rm -rf gprof-mt.data
"$GM_BUILD/tests/ctf/make_capture" gprof-mt.data 1 2
page 0 page
same page
shows page 'sum(doc["sums"]["operations"]["count"]) == 2 and doc["bins"] == 256'
rm -rf gprof-mt.data
"$GM_BUILD/tests/ctf/make_capture" gprof-mt.data every
page 0 page
same page

# A wait that never ended: the program was killed in it.
"$CC" -g -O1 -pthread -I "$GM_TOP/tests" -o blocked "$GM_TOP/tests/record/programs/blocked.c" || fail "cannot compile"
for source in none auto; do
	status=0
	fresh "$gprof_mt" record -q --set kernel.source=$source ./blocked || status=$?
	[ $status -eq 137 ] || fail "blocked: exit status $status"
	page 0 page
	same page
	shows page 'doc["waits"]["n"] == 1 and doc["waits"]["start"][0] + doc["waits"]["ns"][0] <= doc["end_ns"]'
done

# A damaged capture: the page shows the readable data.
record "$GM_BUILD/examples/philosophers" 4 60
stream=$(find gprof-mt.data/[0-9]*/user -name 'stream_1*' | head -1)
truncate -s $(($(stat -c %s "$stream") / 2)) "$stream"
page 1 page
shows page '"damage: " in missing and doc["waits"]["n"] >= 0'
exit 0
