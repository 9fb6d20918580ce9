#!/bin/bash
# SPDX-License-Identifier: MIT
# While the index is made, the browser shows the progress. q and Ctrl-C exit at once and leave no files; files
# of a killed browser are removed by the next one. Ctrl-Z stops it, and it continues, also in a terminal of
# another size.
. "$GM_TOP/tests/tui/common.sh"
make_capture=$GM_BUILD/tests/ctf/make_capture

stopped()
{
	grep -q '^State:[[:space:]]*T' "/proc/$(cat pid)/status"
}

# In the middle: there are files, and the last lists are not started yet.
is_making()
{
	stopped && [ -e big/index.new/thread-items ] && [ ! -s big/index.new/thread-items ] && [ ! -e big/index ]
}

# stop_in_the_midst: stops the browser while it makes the index of a capture that is large enough.
events=1000000
stop_in_the_midst()
{
	while :; do
		[ -e big ] || "$make_capture" big 4 $events waits || fail make_capture
		rm -rf big/index pid
		terminal 100 30
		# The shell is not to take over when its child is held.
		run "set +m; sh -c 'echo \$\$ >pid; exec $gprof_mt browse -i big'"
		until_true 60 test -s pid || fail 'no process'
		until_true 60 has 'q quit' || fail "no progress is shown: $(screen)"
		kill -STOP "$(cat pid)"
		until_true 60 stopped || fail 'the browser was not stopped'
		! is_making || break
		kill -KILL "$(cat pid)"
		rm -rf big
		events=$((events * 4))
		[ $events -lt 300000000 ] || fail 'no capture is large enough'
	done
	has 'big: ' || fail "the present step is not shown: $(screen)"
	has '%' || fail "the progress in percent is not shown: $(screen)"
	# It looks at the keyboard every tenth of a second.
	sleep 0.2
}

gone()
{
	! kill -0 "$(cat pid)" 2>/dev/null
}

# gone_with STATUS: the browser has exited, and the capture is unchanged.
gone_with()
{
	kill -CONT "$(cat pid)"
	until_true 60 gone || fail "the browser does not end: $(screen)"
	run 'echo status=$?'
	shows "status=$1"
	[ ! -e big/index ] && [ ! -e big/index.new ] || fail "left behind: $(ls big)"
}
stop_in_the_midst
keys q
gone_with 0
stop_in_the_midst
keys C-c
gone_with 130

stop_in_the_midst
kill -KILL "$(cat pid)"
until_true 60 gone || fail 'the browser does not end'
[ -d big/index.new ] || fail 'no unfinished index is left'
run "clear; $gprof_mt browse -i big; echo status=\$?"
shows DETAILS
[ -e big/index/head ] && [ ! -e big/index.new ] || fail "not taken over: $(ls big)"
keys q
shows status=0

rm -rf big/index
terminal 100 30
run "clear; $gprof_mt browse -i big"
shows 'q quit'
keys C-z
shows Stopped
lacks 'q quit' || fail "the terminal still shows the browser: $(screen)"
in_tmux resize-window -x 120 -y 40
run 'clear; fg; echo status=$?'
shows DETAILS
until_true 60 eval 'screen | sed -n 40p | grep -q "^q quit.*s source"' || fail "not of 40 rows: $(screen)"
keys q
shows status=0
