#!/bin/bash
# SPDX-License-Identifier: MIT
# The index that the browser saves in a capture: the second start uses it and shows the same. The index of
# another capture, a damaged or a forged one is replaced. If it cannot be saved, the browser gives the reason
# and continues.
. "$GM_TOP/tests/tui/common.sh"
forge=$GM_TOP/tests/tui/forge.py
make_capture=$GM_BUILD/tests/ctf/make_capture
[ -x "$make_capture" ] || fail 'no make_capture'

# Made large by a file that is never read.
"$make_capture" big 16 20000 waits || fail make_capture
truncate -s 10M big/padding
terminal 100 30

# browse: starts the browser and waits until it is ready.
browse()
{
	run "clear; $gprof_mt browse -i big; echo status=\$?"
	shows DETAILS
}

# leave [STATUS]: exits; no unfinished file is left.
leave()
{
	keys q
	shows "status=${1:-0}"
	[ ! -e big/index.new ] || fail "left: $(ls big/index.new)"
}

# shows_name NAME: the pane of the threads has NAME.
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

# look FILE: writes the screen after some keys; the effect of the last one is visible.
look()
{
	keys o j j Enter ']' ']' m '+' '+' '/'
	types zzz
	shows /zzz
	screen >"$1"
	keys Escape
	hides /zzz
}

# Made, and used: the threads have the names of the saved index.
browse
look made
leave
[ "$(stat -c %a big/index)" = 700 ] || fail "the folder of the index is not private: $(stat big/index)"
[ -z "$(find big/index -type f ! -perm 600)" ] || fail "files: $(ls -l big/index)"
first=$(inode)
browse
look kept
leave
cmp made kept || fail 'the saved index is shown differently'
shows_name worker 'of the capture'
[ "$(inode)" = "$first" ] || fail 'it was made again'
python3 "$forge" big/index rename
shows_name wOrker 'kept'
[ "$(inode)" = "$first" ] || fail 'it was made again'

# The index belongs to these files and no others.
touch big/session
shows_name worker 'another time'
second=$(inode)
[ "$second" != "$first" ] || fail 'it was not made again'

# harmed HOW [FILE]: the changed index is not used, and is made again.
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

# A file in its place that is no index is not changed.
rm -rf big/index
mkdir big/index
echo mine >big/index/notes
browse
shows 'the index is not saved: Directory not empty'
leave
[ "$(cat big/index/notes)" = mine ] || fail 'a file that is not part of an index was removed'
rm -rf big/index
shows_name worker 'once they are away'

# Whatever the files contain, the browser survives all keys, and exits normally.
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

# No disk space: it continues in memory, and shows the same.
rm -rf big/index
run 'ulimit -f 200'
browse
shows 'the index is not saved: No space left on device'
look full
leave
cmp made full || fail 'the index in memory is shown differently'
[ ! -e big/index ] || fail 'an index was kept without room'
terminal 100 30

# Another browser is making the index; and one that was killed meanwhile.
mkdir big/index.new
exec 9<big/index.new
flock 9 || fail flock
browse
shows 'the index is not saved: another `gprof-mt browse` is making it'
keys q
shows status=0
[ -d big/index.new ] || fail 'an index that is being made was removed'
exec 9<&-
echo old >big/index.new/steps
browse
leave
python3 "$forge" big/index rename
shows_name wOrker 'after one that was killed'

# Symlinks are not followed.
rm -rf big/index
mkdir elsewhere
ln -s ../elsewhere big/index
browse
shows 'the index is not saved: Not a directory'
leave
[ -z "$(ls elsewhere)" ] || fail 'a link was followed'
rm big/index
ln -s ../elsewhere big/index.new
browse
shows 'the index is not saved: index.new: '
keys q
shows status=0
[ -z "$(ls elsewhere)" ] || fail 'a link was followed'
rm big/index.new

# Damage found while making the index is also reported when the index is read.
stream=big/1000/user/stream_3
printf 'xxxxxxxx' | dd of="$stream" bs=1 seek=$(($(stat -c %s "$stream") / 2)) conv=notrunc 2>err || fail dd
for _ in 1 2; do
	browse
	shows 'big (damaged)'
	leave 1
	has "$stream: " || fail "no damage: $(screen)"
	[ -d big/index ] || fail 'it was not kept'
done

# No index for a running program, nor in the capture of another user.
rm -rf big/index
if can_be_other; then
	chown 65534 big
	browse
	shows "the index is not saved: the capture belongs to another user"
	leave 1
	chown 0 big
fi
mv big/1000 "big/$$"
echo "clock_uuid $(cat /proc/sys/kernel/random/boot_id)" >>big/session
# This shell, by its start time, without the lock of the capture, and without an end.
python3 - "big/$$/threads" "$$" <<'END'
import struct, sys
with open(sys.argv[1], "r+b") as file:
    def put(at, format, value):
        file.seek(at)
        file.write(struct.pack(format, value))
    start = open(f"/proc/{sys.argv[2]}/stat").read().rsplit(")", 1)[1].split()[22 - 3]
    put(24, "<I", int(sys.argv[2]))
    put(40, "<Q", 0)  # end_ns
    put(80, "<Q", int(start))
    put(136 + 4 * 1024 + 8 * 128, "<I", 1)  # pid_namespace
END
browse
shows 'the index is not saved: the program is still running'
leave 1
[ ! -e big/index ] || fail 'it was kept'
