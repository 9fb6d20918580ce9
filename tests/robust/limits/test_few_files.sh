#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A capture has more threads than the reader may open files: reports and exports are the same as
# without that limit.
# GM_FEW_FILES_THREADS: the number of threads (400).
# shellcheck source=tests/lib.sh
. "$GM_TOP/tests/lib.sh"

unset GPROF_MT_CONFIG LD_PRELOAD
threads=${GM_FEW_FILES_THREADS:-400} few=64
build_pg threads_many
fresh "$gprof_mt" record -q --set calls.mode=history --set sync.mode=all --set kernel.source=none \
	-- ./threads_many "$threads" >out 2>err
[ $? = 7 ] || fail "record: $(cat out err)"
read -r made error _ <out
[ "$made $error" = "$threads 0" ] || fail "expected $threads threads and error 0, found $made and $error"
for stream in user calls-history; do
	streams=$(find gprof-mt.data/*/$stream -name 'stream_*' | wc -l)
	[ "$streams" -gt $((2 * few)) ] || fail "$stream: expected more than $((2 * few)) streams, found $streams"
done

# both NAME ARG...: gprof-mt ARG... prints the same with few files and with many, also on stderr
both()
{
	local name=$1
	shift
	"$gprof_mt" "$@" >"$name.many" 2>"$name.many.err" || fail "$*: $(cat "$name.many.err")"
	(ulimit -n $few && exec "$gprof_mt" "$@") >"$name.few" 2>"$name.few.err" ||
		fail "$*, $few files: $(cat "$name.few.err")"
	cmp "$name.many" "$name.few" || fail "$*: the output differs with $few files"
	cmp "$name.many.err" "$name.few.err" || fail "$*: stderr differs with $few files: $(cat "$name.few.err")"
}

both report report --format json summary threads sync locks flat quality
both history history --format json
both perfetto export --format perfetto -o -
both diff diff --format json gprof-mt.data gprof-mt.data
acquired=$(python3 -c 'import json, sys
locks = json.load(open(sys.argv[1]))["locks"]
print(sum(lock["acquired"] for lock in locks if lock["type"] == "mutex"))' report.few) ||
	fail "the report cannot be read"
# Each thread locks its mutex twice and the gate once; main locks the gate.
[ "$acquired" = $((3 * threads + 1)) ] || fail "expected $((3 * threads + 1)) locks, found $acquired"
echo "$threads threads, $few files: $acquired locks, as with many files"
