#!/bin/bash
# SPDX-License-Identifier: MIT
# fork(), _Fork(), clone(), vfork() and exec: each process has its own folder with its events.
. "$GM_TOP/tests/sync/common.sh"

build fork -no-pie
./fork >without || fail "the program fails without the library"
rm -rf gprof-mt.data
traced ./fork >out || fail "the program fails when traced"
mutex="object=0x$(printf %X "$(sed -n 's/^mutex //p' out)")"
[ "$(grep -c '^[0-9]' out)" -eq 8 ] || { cat out; fail "expected 8 processes"; }

# the program finally executes itself: its process has two images, in two folders
first=$(sed -n 's/ 21$//p' out)
while read -r pid locks; do
	folder=gprof-mt.data/$pid
	[ "$pid $locks" != "$first 9" ] || folder+=.1
	events "$folder/user" >events
	no_complaint
	expect "$locks" " mutex_lock result=0 .*$mutex\$"
	expect "$locks" " mutex_unlock result=0 .*$mutex\$"
done < <(grep '^[0-9]' out)

# Each process maps its call sites correctly, although the program has gaps between its segments.
build fork -Wl,-z,max-page-size=0x20000
traced ./fork >out || fail "the program with gaps fails when traced"
moved
while read -r folder; do
	awk '$2 == "load" && $NF ~ /\/fork$/ { found = 1 } END { exit !found }' "${folder%user}maps" ||
		fail "${folder%user}maps does not list the program"
done < <(find gprof-mt.data -name user)

# 8 images with operations; the idle child has no folder, and the child of vfork() shares its parent's until
# it executes a program
folders=$(find gprof-mt.data -name user | wc -l)
[ "$folders" -eq 8 ] || { find gprof-mt.data -name user; fail "expected 8 folders with events, got $folders"; }
babeltrace2 -o dummy gprof-mt.data/*/user 2>babeltrace.err && [ ! -s babeltrace.err ] ||
	fail "babeltrace2 cannot read all folders together: $(head -n 3 babeltrace.err)"

# The threads of a child open its folder at the same time.
build fork_threads
traced ./fork_threads 2>err
[ $? -eq 3 ] && [ ! -s err ] || { sort err | uniq -c; fail "expected no message and status 3 of children that start with threads"; }
events "gprof-mt.data/*/user" >events
no_complaint
expect 241 ' mutex_lock result=0 '
expect 240 ' thread_create result=0 '
expect 240 ' thread_start '
