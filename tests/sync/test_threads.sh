#!/bin/bash
# SPDX-License-Identifier: MIT
# 6,000 short threads: all are recorded with all their operations, and neither the process nor the disk
# accumulates their resources.
. "$GM_TOP/tests/sync/common.sh"

build short_threads
traced ./short_threads 6000 >out || fail "descriptors or mappings pile up"
events >events
no_complaint
expect 6000 ' thread_start '
expect 6000 ' thread_exit '
expect 6000 ' thread_create '
expect 6000 ' thread_join '
[ "$(awk '{ print $1 }' events | sort -u | wc -l)" -eq 6001 ] || fail "expected 6001 indexes"

# the locks of each thread in index order, and what the program printed by tid, in the threads' order
awk '$3 == "mutex_lock" || $3 == "thread_exit" { n[$1] += $3 == "mutex_lock"; tid[$1] = $2 }
     END { for (i in n) print i, tid[i], n[i] }' events | sort -n | awk '$1 > 0 { print $2, $3 }' |
	sort >seen
awk '$1 == "thread" { print $2, $3 }' out | sort >did
diff did seen >difference || { head difference; fail "the recorded operations differ from those that the threads printed"; }

files=$(find gprof-mt.data -name 'stream_*' | wc -l)
[ "$files" -le 60 ] || fail "expected at most 60 stream files for 21 threads at a time, got $files"

# A site number means what its own stream defines, in whichever packet: all locks are in odd().
read -r low size <<<"$(nm -S short_threads | sed -n 's/^\([0-9a-f]*\) \([0-9a-f]*\) . odd$/\1 \2/p')"
bias=$(awk -v name="$PWD/short_threads" '$2 == "load" && $7 == name { print $5; exit }' gprof-mt.data/*/maps)
low=$((0x$low + 0x$bias)) high=$((low + 0x$size))
babeltrace2 -c sink.text.details --params=with-metadata=false gprof-mt.data/*/user |
	sed -E 's/([0-9a-f])[:,]([0-9a-f])/\1\2/g; s/([0-9a-f])[:,]([0-9a-f])/\1\2/g' | awk '
	/\{Trace/ { sub(".*Stream ID ", ""); stream = $1 }
	/^Event `/ { name = $2 }
	$1 == "number:" { number = $2 }
	$1 == "address:" { address[stream " " number] = $2 }
	$1 == "site:" && name ~ /mutex_lock`/ { print address[stream " " $2] }' | sort | uniq -c >sites
[ -s sites ] || fail "babeltrace2 prints no call sites"
while read -r n address; do
	[ $((address)) -gt $low ] && [ $((address)) -le $high ] || fail "expected all locks within odd(), got $n at ${address:-nowhere}"
done <sites
