#!/bin/bash
# SPDX-License-Identifier: MIT
# The browser in limited terminals, in terminals that change, with the mouse; ended by signals it restores the
# terminal. If it cannot start, it prints one clear line.
. "$GM_TOP/tests/tui/common.sh"

# one_line STATUS REGEX COMMAND...: exits with STATUS and prints one line that matches REGEX
one_line()
{
	local status=$1 words=$2
	shift 2
	"$@" >out 2>err </dev/null
	[ $? = "$status" ] && [ "$(wc -l <err)" = 1 ] && [ ! -s out ] && grep -q -- "$words" err ||
		fail "$*: $(cat out err)"
}
"$gprof_mt" record -q -- "$GM_BUILD/examples/philosophers" 4 20 >/dev/null || fail record
one_line 1 'standard input and output must be a terminal' "$gprof_mt" browse
one_line 1 'none' "$gprof_mt" browse -i none
one_line 2 "unexpected argument 'more'" "$gprof_mt" browse more
mkdir nothing
one_line 1 nothing "$gprof_mt" browse -i nothing

browse="sh -c 'echo \$\$ >pid; exec $gprof_mt browse'"

# started: the browser is ready, and its process is known.
started()
{
	shows 'THREADS 5'
	shows 'q quit'
	until_true 60 test -s pid || fail 'no process'
}

gone()
{
	! kill -0 "$(cat pid)" 2>/dev/null
}

# ended STATUS: the terminal is as before: line editing and echo are on.
ended()
{
	until_true 60 gone || fail "the browser does not end: $(screen)"
	run 'status=$?; clear; echo status=$status; stty -a | grep -cE "(^| )icanon( .*)? echo "; rm pid; echo end'
	until_true 60 eval 'screen | grep -qx end' || fail "no shell: $(screen)"
	shows "status=$1"
	screen | grep -qx 1 || fail "the terminal is not as it was: $(screen)"
	lacks DETAILS || fail "the terminal still shows the browser: $(screen)"
}

# Colors and characters.
terminal 80 24
run "$browse"
started
shows $'\xc3\x97'
coloured_screen | grep -q $'\033\[3[0-7]m' || fail 'no colours'
screen | sed -n 8p | cut -c 1-19 | sed 's/ *$//' >second

# A name takes as many columns as its characters: one, two, or none.
"$CC" -O1 -g -o named "$GM_TOP/tests/tui/named.c" -pthread || fail "cannot compile"
in_columns()
{
	rm -rf names
	"$gprof_mt" record -q -o names -- ./named "$1" || fail "record: $?"
	terminal 80 24
	run "$gprof_mt browse -i names"
	shows DETAILS
	keys g
	shows 'who waits for whom'
	screen | grep -q "^$1$2 -> named        " || fail "not in columns: $(screen)"
	keys q q
	hides DETAILS
}
in_columns $'gr\xc3\xb6\xc3\x9fe' '       '
in_columns $'\xe7\xba\xbf\xe7\xa8\x8b' '        '
in_columns $'e\xcc\x81te\xcc\x81' '         '

# The legend of colors and characters is complete on a small screen too.
terminal 60 20
run "$browse"
started
shows $'\xc3\x97 waited for'
screen | sed -n 20p | grep -qx 'q quit  h help  Tab pane  / search  \[ \] waits  m match' ||
	fail "the last line: $(screen)"
keys q
ended 0
terminal 80 24
run "$browse"
started
keys h
shows 'q back  j k scroll: 1 to 22 of 30'
keys G
shows 'Operations that waited are yellow; those that never returned are red.'
in_tmux resize-window -x 60 -y 20
shows 'q back  j k scroll: '
keys G
shows '    returned are red.'
keys q q
ended 0

# Too small, and large again.
terminal 80 24
run "$browse"
started
in_tmux resize-window -x 40 -y 10
shows 'too small: 60x16 at least'
in_tmux resize-window -x 100 -y 30
shows 'THREADS 5'
in_tmux resize-window -x 80 -y 24
# laid_out: the layout is that of 24 rows.
laid_out()
{
	screen >now
	sed -n 1p now | grep -q '^gprof-mt browse' && sed -n 24p now | grep -q '^q quit' &&
		sed -n 8p now | grep -qF "$(cat second)"
}
until_true 60 laid_out || fail "not as it was with 24 rows: $(screen)"

# A click on the second object, in the eighth line; the wheel then scrolls that pane.
hides "OPERATIONS on $(cat second)"
keys -H 1b 5b 4d 20 24 28
shows "OPERATIONS on $(cat second)"
keys -H 1b 5b 4d 60 24 28
hides "OPERATIONS on $(cat second)"

# Stopped and continued.
keys C-z
shows Stopped
run fg
started
keys h
shows 'who waits for whom'
keys q
hides 'who waits for whom'
keys C-c
ended 130
for signal in TERM:143 HUP:129; do
	run "$browse"
	started
	kill -"${signal%:*}" "$(cat pid)"
	ended "${signal#*:}"
done

# Without colors: by the user's choice, or the terminal's.
for without in NO_COLOR=1 TERM=vt100; do
	run "$without $browse"
	started
	! coloured_screen | grep -q $'\033\[[0-9;]*3[0-7]m' || fail "$without: colours"
	keys q
	ended 0
done
run "TERM=dumb $browse"
shows 'TERM=dumb: a terminal that can move the cursor is needed'
until_true 60 test -s pid
ended 1
run "TERM=none $browse"
shows 'TERM=none: unknown terminal type'
until_true 60 test -s pid
ended 1

# Without UTF-8.
run "LC_ALL=C $browse"
started
! screen | LC_ALL=C grep -q '[^ -~]' || fail "not ASCII: $(screen)"
shows 'x blocked'

# The terminal disappears: the browser exits.
end_terminal
until_true 60 gone || fail 'it goes on without a terminal'

# Nearly empty captures, and a damaged one.
cat >one.c <<-'END'
	#include <semaphore.h>
	int main(void)
	{
		static sem_t lone;
		return sem_init(&lone, 0, 1);
	}
END
"$CC" -O2 -g -o one one.c -pthread || fail 'cannot compile'
"$gprof_mt" record -q -o one.data ./one || fail record
"$gprof_mt" record -q -o none.data --set sync.mode=off ./one || fail record
"$gprof_mt" record -q -o waits.data --set sync.mode=contended ./one || fail record
cp -r gprof-mt.data damaged.data
stream=$(find damaged.data -path '*/user/*' -name 'stream_1*' | head -n 1)
truncate -s -1 "$stream" || fail "no stream: $(find damaged.data)"
dd if=/dev/zero of="$stream" bs=1 count=8 seek=4 conv=notrunc 2>/dev/null || fail dd

terminal 100 30
run "$gprof_mt browse -i one.data; echo status=\$?"
shows 'OPERATIONS on sem lone: 1 of 1'
keys j m
shows 'no matching operation'
keys q
shows status=0
run "clear; $gprof_mt browse -i none.data; echo status=\$?"
shows 'no operation was recorded'
keys j Enter Enter '[' m w s c
shows 'no object had waits'
keys q
shows status=0
# Only waits are recorded.
run "clear; $gprof_mt browse -i waits.data; echo status=\$?"
shows 'synchronization is recorded: only waits'
keys q
shows status=0
run "clear; $gprof_mt browse -i damaged.data; echo status=\$?"
shows 'damaged.data (damaged)'
keys q
shows 'damaged: '
shows status=1
