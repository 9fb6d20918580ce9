#!/bin/bash
# SPDX-License-Identifier: MIT
#
# record --backend lttng --url: a relay daemon stores the events, which together with the capture give the tables of a
# native recording.  A daemon that does not answer is found before the program starts; one that ends is reported.
. "$GM_TOP/tests/lttng/common.sh"
need lttng-relayd
build_here tests/lttng/programs/counted.c

# Starts a relay daemon of `who` at free ports, which stores in $PWD/stored; sets `url`.
relayd_start()
{
	local port
	for _ in {1..50}; do
		port=$((20000 + RANDOM % 12000))
		url=net://127.0.0.1:$port:$((port + 1))
		as lttng-relayd --background -C tcp://127.0.0.1:$port -D tcp://127.0.0.1:$((port + 1)) \
			-L tcp://127.0.0.1:$((port + 2)) -o "$PWD/stored" >relayd.log 2>&1 </dev/null && return
	done
	fail "no relay daemon: $(cat relayd.log)"
}

relayd_is_gone()
{
	! pgrep -f "lttng-relayd.*-o $PWD/stored" >/dev/null
}

# relayd_stop SIGNAL
relayd_stop()
{
	pkill "-$1" -f "lttng-relayd.*-o $PWD/stored"
	until_true 60 relayd_is_gone || fail "the relay daemon does not end"
}

for person in $(people); do
	become "$person"
	sessiond_start
	as "$gprof_mt" record -q --set kernel.source=none "$here/counted" 3 200 >out 2>err
	[ $? = 3 ] || fail "native: $(cat err)"
	tables gprof-mt.data >native

	relayd_start
	rm -rf gprof-mt.data
	as "$gprof_mt" record --set kernel.source=none --backend lttng --url "$url" "$here/counted" 3 200 >out 2>err
	[ $? = 3 ] || fail "$url, as $who: $(cat err)"
	session=$(jq -r .relay.session gprof-mt.data/info.json)
	[ "$(jq -r .relay.url gprof-mt.data/info.json)" = "$url" ] || fail "info.json: $(cat gprof-mt.data/info.json)"
	grep -q "synch-events at the relay daemon, session $session, " err || fail "not told: $(cat err)"
	[ ! -e gprof-mt.data/ust ] || fail "the capture has the events, too"
	"$gprof_mt" report quality >quality 2>&1
	grep -q "synch-events are at the relay daemon of $url: move ust/ of the session $session here" quality ||
		fail "not told where the events are: $(cat quality)"

	# The stored session alone, and moved into the capture.
	stored=$(echo stored/*/"$session"-*)
	[ -d "$stored/ust" ] || fail "expected stored/HOST/$session-DATE/ust, found $(find stored)"
	[ "$(ust_events "$stored" | grep -c ' mutex_lock ')" = 800 ] || fail "$stored: expected 800 locks"
	"$gprof_mt" report -i "$stored" --format json locks >locks.json || fail "report -i $stored"
	[ "$(jq '[.locks[] | select(.type == "mutex") | .acquired] | add' locks.json)" = 800 ] ||
		fail "$stored: $(cat locks.json)"
	as mv "$stored/ust" gprof-mt.data/
	tables gprof-mt.data >relayed
	[ "$(wc -l <native)" -gt 10 ] && diff native relayed || fail "as $who: the tables differ from a native recording"
	"$gprof_mt" report quality >quality 2>&1 && grep -q 'nothing lost' quality || fail "quality: $(cat quality)"

	# The relay daemon ends during the recording.
	mkfifo said
	(exec "${as[@]}" "$gprof_mt" record -o ended --set kernel.source=none --backend lttng --url "$url" \
		"$here/counted" 1 10 wait >said 2>ended.err) &
	recorder=$!
	read -r line <said
	[ "$line" = ready ] || fail "$(cat ended.err)"
	relayd_stop KILL
	recording_end TERM "$recorder" ended
	grep -q "events are lost since the relay daemon at $url ended during the recording" ended.err ||
		fail "the end of the relay daemon is not told: $(cat ended.err)"
	"$gprof_mt" report -i ended quality >quality 2>&1
	grep -q 'events since the relay daemon ended' quality || fail "no row in quality: $(cat quality)"
	[ "$(sessions)" = "" ] || fail "a session is left: $(cat list)"

	# None answers: the program is not started.
	rm -rf gprof-mt.data
	as "$gprof_mt" record --backend lttng --url "$url" "$here/counted" 1 1 >out 2>err
	[ $? = 1 ] && grep -q "no relay daemon at $url: .*; start one there: lttng-relayd --daemonize" err ||
		fail "without a relay daemon: $(cat err)"
	[ ! -e gprof-mt.data ] || fail "a capture without a run"
	[ "$(sessions)" = "" ] || fail "a session is left: $(cat list)"
	sessiond_stop
done

for bad in net:// net://: http://a net://a:b net://a:1:2:3 'net://a b' net://[::1; do
	"$gprof_mt" record --backend lttng --url "$bad" true 2>err
	[ $? = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -qF "invalid --url '$bad'" err || fail "--url $bad: $(cat err)"
done
"$gprof_mt" record --url net://127.0.0.1 true 2>err
[ $? = 2 ] && grep -q -e '--url needs --backend lttng' err || fail "--url alone: $(cat err)"
