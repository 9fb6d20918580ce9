#!/bin/bash
# SPDX-License-Identifier: MIT
# The index that the browser keeps in a capture: the second opening uses it, and shows the same.  Of another
# capture, damaged or forged it is made anew; where it cannot be kept, the browser says why, and goes on.
. "$GM_TOP/tests/tui/common.sh"
forge=$GM_TOP/tests/tui/forge.py
make_capture=$GM_BUILD/tests/ctf/make_capture
[ -x "$make_capture" ] || fail 'no make_capture'

# Large by a file that nobody reads.
"$make_capture" big 16 20000 waits || fail make_capture
truncate -s 10M big/padding
terminal 100 30

# browse: until it is there.
browse()
{
	run "clear; $gprof_mt browse -i big; echo status=\$?"
	shows DETAILS
}

# leave [STATUS]: and nothing is left of what was not finished.
leave()
{
	keys q
	shows "status=${1:-0}"
	[ ! -e big/index.new ] || fail "left: $(ls big/index.new)"
}

# shows_name NAME: of the threads, in the pane that has them.
shows_name()
{
	browse
	until_true 60 eval 'screen | grep -q "w[oO]rker"' || fail "no thread: $(screen)"
	has "$1" || fail "$2: not $1: $(screen)"
	leave
}

inode()
{
	stat -c %i big/index
}

# look FILE: what it shows after some keys, of which the last is seen.
look()
{
	keys o j j Enter ']' ']' m '+' '+' '/'
	types zzz
	shows /zzz
	screen >"$1"
	keys Escape
	hides /zzz
}

# Made, and used: threads have the names that it has.
browse
look made
leave
[ "$(stat -c %a big/index)" = 700 ] || fail "the folder: $(stat big/index)"
[ -z "$(find big/index -type f ! -perm 600)" ] || fail "files: $(ls -l big/index)"
first=$(inode)
browse
look kept
leave
cmp made kept || fail 'another picture'
shows_name worker 'of the capture'
[ "$(inode)" = "$first" ] || fail 'it was made again'
python3 "$forge" big/index rename
shows_name wOrker 'kept'
[ "$(inode)" = "$first" ] || fail 'it was made again'

# It is of these files, and not of others.
touch big/session
shows_name worker 'another time'
second=$(inode)
[ "$second" != "$first" ] || fail 'it was not made again'

# harmed HOW [FILE]: is not used, and made again.
harmed()
{
	python3 "$forge" big/index rename
	python3 "$forge" big/index "$@" || fail "forge $*"
	shows_name worker "$*"
	[ -e big/index/head ] || fail "$*: it was not kept: $(ls big/index)"
	rm -rf big/index.aside
}
for how in cut missing fifo more; do
	harmed $how operations
done
harmed longer damage
harmed cut head
harmed link head
for byte in 0 $(($(stat -c %s big/index/head) - 1)); do
	harmed head "$byte"
done
harmed late
harmed old

# What is in its place, and is not an index, stays.
rm -rf big/index
mkdir big/index
echo mine >big/index/notes
browse
shows 'the index is not kept: Directory not empty'
leave
[ "$(cat big/index/notes)" = mine ] || fail 'the notes of somebody else are gone'
rm -rf big/index
shows_name worker 'once they are away'

# What is in the files may be anything: the browser lives, with all keys, and leaves in order.
cp -a big/index index.good
for seed in 1 2; do
	python3 "$forge" big/index scramble "$seed"
	browse
	keys j G m w ']' '[' + + - Tab j G Enter s s c j j o j Enter j m w t G Enter G '[' 0 g q n '/'
	types zzz
	shows /zzz
	keys Escape
	hides /zzz
	leave
	rm -rf big/index
	cp -a index.good big/index
done

# No room: it goes on in memory, and shows the same.
rm -rf big/index
run 'ulimit -f 200'
browse
shows 'the index is not kept: No space left on device'
look full
leave
cmp made full || fail 'another picture in memory'
[ ! -e big/index ] || fail 'an index was kept without room'
terminal 100 30

# Somebody else is at it; and somebody was, and is no more.
mkdir big/index.new
exec 9<big/index.new
flock 9 || fail flock
browse
shows 'the index is not kept: another `gprof-mt browse` is making it'
keys q
shows status=0
[ -d big/index.new ] || fail 'what is being made was removed'
exec 9<&-
echo old >big/index.new/steps
browse
leave
python3 "$forge" big/index rename
shows_name wOrker 'after one that was killed'

# Links lead nowhere.
rm -rf big/index
mkdir elsewhere
ln -s ../elsewhere big/index
browse
shows 'the index is not kept: Not a directory'
leave
[ -z "$(ls elsewhere)" ] || fail 'a link was followed'
rm big/index
ln -s ../elsewhere big/index.new
browse
shows 'the index is not kept: index.new: '
keys q
shows status=0
[ -z "$(ls elsewhere)" ] || fail 'a link was followed'
rm big/index.new

# Damage that the sweep finds is told by whoever did not sweep, too.
stream=big/1000/user/stream_3
printf 'xxxxxxxx' | dd of="$stream" bs=1 seek=$(($(stat -c %s "$stream") / 2)) conv=notrunc 2>err || fail dd
for _ in 1 2; do
	browse
	shows 'big (damaged)'
	leave 1
	has "$stream: " || fail "no damage: $(screen)"
	[ -d big/index ] || fail 'it was not kept'
done

# Not of a program that goes on, nor in the capture of somebody else.
rm -rf big/index
if [ "$(id -u)" = 0 ]; then
	chown 65534 big
	browse
	shows "the index is not kept: the capture is another user's"
	leave 1
	chown 0 big
fi
mv big/1000 "big/$$"
echo "clock_uuid $(cat /proc/sys/kernel/random/boot_id)" >>big/session
browse
shows 'the index is not kept: the program goes on'
leave 1
[ ! -e big/index ] || fail 'it was kept'
