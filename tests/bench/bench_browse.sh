#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures `browse` on EVENTS (default 100 M) events of 16 threads and 64 mutexes, where one lock in ten waits:
# - the time to the first screen: while the index is made (compared with a summary of the same capture), with the index
#   in memory, and with the index on disk only; at most 2 s is required with an index;
# - the memory while the index is made, without the page cache;
# - the longest response to each key, with the index in memory, and with the index evicted before each key; at most
#   50 ms is required;
# - the same keys in `less`, on the text of one in a hundred of the events.
# Only root can evict pages of another process: for other users, the rows for keys with an evicted index are missing,
# and the first screen is measured with the page cache dropped by posix_fadvise() only.
#
# Needs 10 GB of disk while it runs.  Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

events=${EVENTS:-100000000}
keys=$GM_TOP/tests/bench/browse/keys.py
millions=$((events / 1000000))
dir=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/bench_browse.XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# browse FILE [--evict FOLDER] [KEY...]: writes the measurements of keys.py to FILE.
browse()
{
	local file=$1 evict=()
	shift
	if [ "${1-}" = --evict ]; then
		evict=("$1" "$2")
		shift 2
	fi
	python3 "$keys" "${evict[@]}" DETAILS "$@" -- "$GM_BUILD/gprof-mt" browse -i capture >"$file"
}

# value NAME FILE
value()
{
	awk -v name="$1" '$1 == name { print $2; exit }' "$2"
}

# row WHAT PEER PEERS OURS UNIT BUDGET
row()
{
	awk -v what="$1" -v peer="$2" -v p="$3" -v o="$4" -v unit="$5" -v b="$6" 'BEGIN {
		printf "%s\t%s\t%s\t%s\t%s\t%.3f\t%s\t%s\n", what, peer, p, o, unit, o / p, b,
			b == "-" ? "-" : o / p <= b ? "pass" : "miss" }'
}

"$GM_BUILD/tests/ctf/make_capture" capture 16 "$events" waits
start=$(date +%s.%N)
"$GM_BUILD/gprof-mt" report -i capture summary >out
summary=$(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
browse made
browse warm 'j=j*30' 'PgDn=\x1b[6~*30' 'G=G*1' 'PgUp=\x1b[5~*10' 'Home=\x1b[H*1' 'o=o*5' 'Enter=\r*2' ']=]*30' \
	'm=m*10' '+=+*20' '-=-*20' 't=t*5' '/=/*1' 'Enter,found=1003\r*1' 'c=c*2' 'Tab=\t*2' 'g=g*1' 'q=q*1' \
	'all=/no such name\r*1'
python3 - <<-'END'
	import os
	for folder, _, files in os.walk("capture"):
	    for name in files:
	        with open(os.path.join(folder, name), "rb") as file:
	            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
END
cold_keys=(o j G PgUp Home PgDn Enter ']' '[' m w Right + - t c g q)
cold=(--evict capture/index)
[ "$(id -u)" = 0 ] || cold=() cold_keys=()
browse cold "${cold[@]}" 'o=o*1' 'j=j*10' 'G=G*1' 'PgUp=\x1b[5~*10' 'Home=\x1b[H*1' 'PgDn=\x1b[6~*10' \
	'Enter=\r*1' ']=]*10' '[=[*5' 'm=m*4' 'w=w*1' 'Right=\x1b[C*10' '+=+*15' '-=-*15' 't=t*1' 'c=c*2' 'g=g*1' 'q=q*1'

row "first screen of $millions M events, the index in memory" 'limit' 2 "$(value first warm)" s 1
row "first screen of $millions M events, the index not in memory" 'limit' 2 "$(value first cold)" s 1
printf 'search through the operations of one thread\t-\t-\t%s\tms\t-\t-\t-\n' "$(value all warm)"
row "first screen of $millions M events, which makes the index" 'report summary' "$summary" "$(value first made)" s -
row "memory while the index is made" 'limit' 204800 "$(value memory made)" KiB 1
for key in j PgDn G PgUp Home o Enter ']' m + - t / Enter,found c g; do
	row "key $key, $millions M events" 'limit' 50 "$(value "$key" warm)" ms 1
done
for key in "${cold_keys[@]}"; do
	row "key $key, the index not in memory" 'limit' 50 "$(value "$key" cold)" ms 1
done
rm -rf capture
"$GM_BUILD/tests/ctf/make_capture" part 16 $((events / 100)) waits
babeltrace2 part >part.txt
python3 "$keys" mutex 'j=j*30' 'PgDn=\x1b[6~*30' 'G=G*1' 'PgUp=\x1b[5~*10' -- less part.txt >less
for key in j PgDn G PgUp; do
	row "key $key" "less, text of $((events / 100)) events" "$(value "$key" less)" "$(value "$key" warm)" ms -
done
