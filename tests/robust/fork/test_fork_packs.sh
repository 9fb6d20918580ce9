#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Readers move children of fork that have ended into packs (postproc/capture/children/packed.h): many
# children need few files, and all readers, babeltrace2 among them, find each child's data.  A reader
# that was killed while it moved them neither loses nor repeats a child.  Damaged packs are reported.
. "$GM_TOP/tests/robust/fork/common.sh"

children=${CHILDREN:-3000}
build fork_at_once
build_pg fork_faults

# figures: prints the locks, the calls of work(), and the number of threads and processes in the report
figures()
{
	"$gprof_mt" report --format json sync flat threads >report.json 2>err || fail "report: $(cat err)"
	python3 - <<'PY'
import json
text, tables = open("report.json").read().lstrip(), {}
while text:
    table, end = json.JSONDecoder().raw_decode(text)
    tables.update(table)
    text = text[end:].lstrip()
locks = sum(row["calls"] for row in tables["sync"] if row["function"] == "pthread_mutex_lock")
calls = sum(row["calls"] for row in tables["functions"] if row["name"] == "work" and row["calls"])
processes = {(row["pid"], row["image"]) for row in tables["threads"]}
print(locks, calls, len(tables["threads"]), len(processes))
PY
}

# has WHEN FIGURES: the report has these figures, and reports no losses
has()
{
	local got
	got=$(figures)
	echo "$1: $got locks, calls, threads, processes"
	[ "$got" = "$2" ] || fail "$1: expected '$2' locks, calls, threads, processes; found '$got'"
	"$gprof_mt" report quality >quality || fail "$1: report quality"
	grep -q 'nothing lost, nothing contradictory' quality || fail "$1: expected an empty section quality: $(cat quality)"
}

# traced WHEN LOCKS: babeltrace2 finds the locks, in order of time
traced()
{
	babeltrace2 --clock-seconds --no-delta gprof-mt.data >events 2>err || fail "$1: babeltrace2: $(tail -n 3 err)"
	[ "$(grep -c ' mutex_lock:' events)" = "$2" ] || fail "$1: babeltrace2: expected $2 locks, found $(grep -c ' mutex_lock:' events)"
	cut -d ']' -f 1 events | LC_ALL=C sort -c || fail "$1: babeltrace2: events not in order of time"
}

# Thousands of children, with the end of `record` included.  Four files are those of a pack: its folder,
# table, trace and metadata; a stream more for each child that ran beside another.
fresh "$gprof_mt" record -q --set kernel.source=none --set sync.mode=all --set calls.gmon_threads=10 -- \
	./fork_faults "$children" >/dev/null || fail "fork_faults"
[ -z "$(find gprof-mt.data -name 'children.*')" ] || fail "a file of places (children.*) is left"
inodes=$(find gprof-mt.data | wc -l)
echo "$children children: $inodes inodes"
[ "$inodes" -le $((60 + 5 * (children / 1024 + 4))) ] || fail "expected few inodes for $children children, found $inodes"
[ "$(find gprof-mt.data -path '*packed.*' -name 'gmon.*' | wc -l)" = 10 ] || fail "expected gmon files of 10 children"
has "thousands of children" "$children $children $((children + 1)) $((children + 1))"
traced "thousands of children" "$children"

# The same through Babeltrace.
cp report.json direct.json
GPROF_MT_READER=babeltrace figures >/dev/null
cmp -s direct.json report.json || fail "the report through Babeltrace differs"

# Children that ran at the same time are in streams of their own.
LD_PRELOAD=$libsync fresh ./fork_at_once 40 || fail "fork_at_once"
has "children at once" "80 0 41 41"
traced "children at once" 80
streams=$(find gprof-mt.data -path '*packed.*' -name 'stream_*' | wc -l)
[ "$streams" = 40 ] || fail "expected 40 streams of children that ran at the same time, found $streams"

# A few children have folders of their own.
LD_PRELOAD=$libsync fresh ./fork_at_once 8 || fail "fork_at_once"
has "few children" "16 0 9 9"
streams=$(find gprof-mt.data -name stream_0 | wc -l) # the parent has one if it waited for them
[ "$streams" = 8 ] || [ "$streams" = 9 ] || fail "few children: expected a stream of each, found $streams"
[ -z "$(find gprof-mt.data -name 'packed.*')" ] || fail "few children: expected no pack"

# A reader was killed when it had made the packs, and had marked none of the places, half of them, or all but
# those of the first file.
LD_PRELOAD=$libsync fresh ./fork_faults 300 >/dev/null || fail "fork_faults"
rm -rf raw
cp -a gprof-mt.data raw
has "300 children" "300 300 301 301"
packs=$(find gprof-mt.data -name 'packed.*' | wc -l)
cp -a gprof-mt.data packed
for marked in 0 1 2; do
	rm -rf gprof-mt.data
	cp -a packed gprof-mt.data
	for file in raw/*/children.*; do
		[ $marked != 2 ] || [ "${file##*.}" = 0 ] || continue
		cp "$file" "gprof-mt.data/${file#raw/}"
	done
	# A pack that was not complete.
	for folder in raw/*/children.0; do
		mkdir -p "gprof-mt.data/$(basename "$(dirname "$folder")")/.pack/user"
		echo half >"gprof-mt.data/$(basename "$(dirname "$folder")")/.pack/table"
	done
	[ $marked != 1 ] || python3 - <<-'PY'
	import glob, struct
	for path in glob.glob("gprof-mt.data/*/children.*"):
	    with open(path, "r+b") as file:
	        n = (len(file.read()) - 4096) // 8192
	        for i in range(0, n, 2):
	            file.seek(4096 + 8192 * i)
	            if struct.unpack("<I", file.read(4))[0] == 1:
	                file.seek(4096 + 8192 * i)
	                file.write(struct.pack("<I", 2))
	PY
	has "after a kill" "300 300 301 301"
	[ "$(find gprof-mt.data -name 'packed.*' | wc -l)" = "$packs" ] || fail "after a kill: children were packed twice"
	[ -z "$(find gprof-mt.data -name 'children.*')" ] || fail "after a kill: a file of places (children.*) is left"
done

# ... or before it had made one.
rm -rf gprof-mt.data
cp -a raw gprof-mt.data
for folder in raw/*/children.0; do
	mkdir -p "gprof-mt.data/$(basename "$(dirname "$folder")")/.pack/user"
	echo half >"gprof-mt.data/$(basename "$(dirname "$folder")")/.pack/table"
done
has "with an incomplete pack" "300 300 301 301"
[ -z "$(find gprof-mt.data -name .pack)" ] || fail "an incomplete pack is left"

# damage WHAT COMMAND...: the command damages a file of a pack, and the report says so
damage()
{
	local what=$1
	shift
	rm -rf gprof-mt.data
	cp -a packed gprof-mt.data
	"$@" || fail "$what: cannot damage the pack"
	"$gprof_mt" report sync quality >out 2>err
	[ $? = 1 ] || fail "$what: expected exit status 1"
	grep -q "$what" err || fail "$what: expected a line of damage, found: $(cat err)"
}

pack=$(cd packed && echo */packed.0)
damage 'packed.0/table: cut short; the report covers 2 children of fork' truncate -s 1000 "gprof-mt.data/$pack/table"
damage 'packed.0/table: damaged' sed -i s/GMPACKED/GMPUCKED/ "gprof-mt.data/$pack/table"
damage 'packed.0/user/stream_0: .*cut short' truncate -s 1000 "gprof-mt.data/$pack/user/stream_0"
damage 'packed.0/user: streams without metadata' rm "gprof-mt.data/$pack/user/metadata"
damage 'its process is not in the table of the pack' python3 - "gprof-mt.data/$pack/table" <<'PY'
import struct, sys
with open(sys.argv[1], "r+b") as file:
    file.seek(16)
    file.write(struct.pack("<I", 3))
PY
reads_damaged 16 packed quality sync
exit 0
