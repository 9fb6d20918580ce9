#!/bin/bash
# SPDX-License-Identifier: MIT
# Empty, nearly empty and damaged captures: the browser reports it, no key crashes it, and it exits normally.
. "$GM_TOP/tests/tui/common.sh"
make_capture=$GM_BUILD/tests/ctf/make_capture

n=0

# refused TEXT DIR: prints one line with TEXT, and does not touch the terminal.
refused()
{
	n=$((n + 1))
	run "clear; $gprof_mt browse -i $2; echo $n=\$?"
	shows "$n=1"
	[ "$(screen | grep -c '[^ ]')" = 3 ] && has "$1" || fail "$2: not '$1': $(screen)"
}

# browse DIR TEXT STATUS: first shows TEXT, and exits with STATUS.
browse()
{
	run "clear; $gprof_mt browse -i $1; echo status=\$?"
	shows DETAILS
	has "$2" || fail "$1: not '$2': $(screen)"
	! has 'at -' || fail "$1: a time before the first: $(screen)"
	keys j G k Home m w ']' '[' + - Right Left 0 c c Tab j Enter Tab s s t o g q n '/'
	types zzz
	shows /zzz
	keys Enter
	hides /zzz
	keys q
	shows "status=$3"
}
"$make_capture" empty 1 0
"$make_capture" two 1 2
mkdir only
cp two/session only
for how in threads session metadata; do cp -a two $how; done
: >threads/1000/threads
echo no session >session/session
echo no metadata >metadata/1000/user/metadata

terminal 160 30
refused 'only is an empty capture' only
refused 'threads/1000/threads: cut short' threads
refused 'session/session: does not begin with' session
browse empty 'no event was recorded' 0
browse two ' of 2' 0
browse metadata 'damaged: metadata/1000/user: left out' 1

# Streams of pseudo-random bytes, the same each time.
"$make_capture" many 3 3000 waits
for seed in 1 2 3 4 5; do
	rm -rf harmed
	cp -a many harmed
	python3 - harmed/1000/user/stream_? $seed <<-'END'
	import random, sys
	numbers = random.Random(int(sys.argv[-1]))
	for path in sys.argv[1:-1]:
	    data = bytearray(open(path, "rb").read())
	    for _ in range(20):
	        data[numbers.randrange(len(data))] = numbers.randrange(256)
	    open(path, "wb").write(data)
	END
	"$gprof_mt" report -i harmed quality >out 2>err
	browse harmed ' of ' $?
done
