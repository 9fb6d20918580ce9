#!/bin/bash
# SPDX-License-Identifier: MIT
# The native reader of traces and the one through Babeltrace give the same sections, histories and timelines,
# for complete captures and for streams that are cut short.
set -eu
gm=$GM_BUILD/gprof-mt

# both COMMAND ARGUMENT...: fails unless both readers give the same output.
both()
{
	"$gm" "$@" >ours 2>ours.err || true
	GPROF_MT_READER=babeltrace "$gm" "$@" >theirs 2>theirs.err || true
	[ -s ours ] || { echo "no output of: $*"; cat ours.err; exit 1; }
	cmp ours theirs || { echo "the readers differ: $*"; diff ours theirs | head -20; exit 1; }
}

all_of()
{
	local tid
	tid=$(basename "$(dirname "$(echo "$1"/[1-9]*/threads | cut -d' ' -f1)")")
	both report -i "$1" --format json
	both history -i "$1" --format json
	both timeline -i "$1" --tid "$tid"
	diff ours.err theirs.err
}

# loads_babeltrace CAPTURE: a report of the capture loads the Babeltrace library.
loads_babeltrace()
{
	LD_DEBUG=files "$gm" report -i "$1" 2>&1 >/dev/null | grep -q babeltrace-plugin-ctf
}

"$gm" record -q --profile full --set calls.mode=history -o full -- "$GM_BUILD/examples/client_server" 2 >out
"$gm" record -q --set kernel.source=none -o plain -- "$GM_BUILD/examples/philosophers" 4 20 >out
for capture in full plain; do
	all_of $capture
	if loads_babeltrace $capture; then
		echo "$capture was not read by the native reader"
		exit 1
	fi
done
GPROF_MT_READER=babeltrace loads_babeltrace plain || { echo "GPROF_MT_READER=babeltrace has no effect"; exit 1; }

# The readers word the damage differently, but read the same events of the stream.
stream=$(ls -S plain/*/user/stream_* | head -1)
size=$(stat -c %s "$stream")
cp "$stream" whole
for part in 1 2 3 4 5 6 7; do
	head -c $((size * part / 8 + part)) whole >"$stream"
	both report -i plain --format json threads sync locks
	[ -s ours.err ] && [ -s theirs.err ] || { echo "no message about a stream that is cut short"; exit 1; }
done
