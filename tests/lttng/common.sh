# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Functions for the tests with LTTng, which use a session daemon of their own, separate from any other on this
# machine.
#
# The daemon of root always uses /run/lttng and its buffers /dev/shm. Therefore tests as root run in
# namespaces of their own, where these are empty, and which no process outlives. If root may not create
# namespaces, and for the rest of each test, an unprivileged user records, with its own home directory.
. "$GM_TOP/tests/lib.sh"

need lttng lttng-sessiond babeltrace2 setpriv jq

if can_be_other && [ -z "${GM_ALONE:-}" ] && unshare -mpf --mount-proc true 2>/dev/null; then
	exec unshare --mount --pid --fork --kill-child --mount-proc env GM_ALONE=1 bash "$0"
fi
[ -z "${GM_ALONE:-}" ] || {
	mount -t tmpfs -o mode=0755 none /run && mount -t tmpfs -o mode=1777 none /dev/shm ||
		fail "cannot mount"
}

# The users that can be tested here.
people()
{
	[ -z "${GM_ALONE:-}" ] || echo root
	[ "$(id -u)" = 0 ] && ! can_be_other || echo user
}

[ -n "$(people)" ] || skip "LTTng's session daemon does not start where root is the only user"

# A directory that an unprivileged user can read, with all necessary files.
here=$(mktemp -d /tmp/gprof-mt-test.XXXXXX) || fail mktemp
who=
finish()
{
	[ -z "$who" ] || sessiond_stop
	rm -rf "$here"
}
trap finish EXIT
cp "$gprof_mt" "$GM_BUILD"/lib{gmon_mt,sync_trace,sync_trace_ust}.so "$here"/ || fail copy
unset GPROF_MT_LIBDIR LTTNG_HOME
# A long timeout, since the machine may be busy.
export LTTNG_UST_REGISTER_TIMEOUT=120000 LTTNG_APP_SOCKET_TIMEOUT=120
# Leaks in other libraries, which a sanitizer reports, are not checked here.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}

# build_here SOURCE [FLAG...]: compiles a file of the source tree into $here
build_here()
{
	local name
	name=$(basename "$1" .c)
	$CC -std=gnu17 -O1 -g -pthread -o "$here/$name" "$GM_TOP/$1" "${@:2}" ||
		fail "cannot compile $name"
}

# become WHO: who runs what `as` runs, in a fresh directory: root, or an ordinary user; without a daemon
become()
{
	[ -z "$who" ] || sessiond_stop
	who=$1 as=()
	[ "$1" = root ] || [ "$(id -u)" != 0 ] ||
		as=(setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all)
	chmod -R go+rX "$here"
	rm -rf "${here:?}/$who" && mkdir "$here/$who" && cd "$here/$who" || fail "cd $here/$who"
	[ ${#as[@]} = 0 ] || chown 65534:65534 .
	export HOME=$here/$who
	# shellcheck disable=SC2034 # for the tests
	gprof_mt=$here/gprof-mt libsync=$here/libsync_trace.so
}

# as COMMAND...: runs COMMAND as that user
as()
{
	"${as[@]}" "$@"
}

# Starts a session daemon for the current user; it is ready when the command returns.
sessiond_start()
{
	as lttng-sessiond --no-kernel --daemonize >sessiond.log 2>&1 </dev/null ||
		fail "no session daemon: $(cat sessiond.log)"
}

# The process of the daemon of `who`; nothing: none has run.
sessiond_pid()
{
	local dir=$HOME/.lttng
	[ "$who" != root ] || dir=/run/lttng
	cat "$dir/lttng-sessiond.pid" 2>/dev/null
}

sessiond_is_gone()
{
	! kill -0 "$1" 2>/dev/null
}

sessiond_stop()
{
	local daemon
	daemon=$(sessiond_pid)
	[ -n "$daemon" ] || return 0
	kill "$daemon" 2>/dev/null
	until_true 60 sessiond_is_gone "$daemon" || kill -KILL "$daemon" 2>/dev/null
}

# The names of all sessions of `who`, sorted, each on a line.
sessions()
{
	as lttng --no-sessiond --mi xml list >list 2>&1 || fail "no daemon: $(cat list)"
	grep -o '<session><name>[^<]*' list | sed 's/.*>//' | sort
}

# recording_start DIR: records counted.c by `recorder`; the program waits when this returns
recording_start()
{
	mkfifo said
	rm -rf "$1"
	(exec "${as[@]}" "$gprof_mt" record -o "$1" --set kernel.source=none --backend lttng \
		"$here/counted" 1 10 wait >said 2>"$1.err") &
	# shellcheck disable=SC2034 # for the tests
	recorder=$!
	read -r line <said
	rm said
	[ "$line" = ready ] || fail "$(cat "$1.err")"
}

# recording_end SIGNAL PROCESS DIR
recording_end()
{
	local status
	kill -"$1" "$2"
	wait "$2" 2>/dev/null
	status=$?
	[ $status = $((128 + $(kill -l "$1"))) ] || fail "SIG$1: exit status $status: $(cat "$3.err")"
}

# session_start NAME OUTPUT: records our events, with buffers that hold all events of a test
session_start()
{
	{
		as lttng create "$1" --output="$2" &&
			as lttng enable-channel -u --subbuf-size=1M --num-subbuf=4 gmon_mt &&
			as lttng enable-event -u -c gmon_mt 'gmon_mt_sync:*' &&
			as lttng add-context -u -c gmon_mt -t vpid -t vtid -t procname &&
			as lttng start
	} >session.log 2>&1 || fail "cannot start a session: $(cat session.log)"
}

session_stop()
{
	as lttng stop >session.log 2>&1 && as lttng destroy --no-wait "$1" >>session.log 2>&1 ||
		fail "cannot end the session: $(cat session.log)"
}

# ust_events DIR: prints one line per event: TID NAME FIELD=VALUE..., without call sites
ust_events()
{
	babeltrace2 --no-delta --clock-seconds "$1" 2>babeltrace.err |
		sed -nE 's/^\[[0-9.]+\] .*gmon_mt_sync:([a-z_]+): \{.*\}, \{.*vtid = ([0-9]+).*\}, \{ (.*) \}$/\2 \1 \3/p' |
		sed -E 's/ = /=/g; s/,//g; s/ site=[^ ]*//'
	[ ! -s babeltrace.err ] || cat babeltrace.err
}

# native_events DIR: prints our own streams the same way; LTTng gets no call paths
native_events()
{
	babeltrace2 --no-delta --clock-seconds "$1" 2>babeltrace.err |
		sed -E '/ (site|path|call_path): /d; s/^\[[0-9.]+\] (\([0-9]+\) )?([a-z_]+): \{ tid = ([0-9]+), index = [0-9]+ \}, \{ (.*) \}$/\3 \2 \4/' |
		sed -E 's/ = /=/g; s/,//g; s/ site=[^ ]*//; / io_call /s/ path=[0-9]*//'
	[ ! -s babeltrace.err ] || cat babeltrace.err
}

# tables DIR: prints the calls by thread and function, and the acquisitions by object, of counted.c
tables()
{
	"$gprof_mt" report -i "$1" --format json sync >sync.json &&
		"$gprof_mt" report -i "$1" --format json locks >locks.json &&
		"$gprof_mt" report -i "$1" --format json threads >threads.json || fail "report"
	jq -rs '(.[2].threads | map({key: (.tid | tostring), value: .name}) | from_entries) as $name |
		(.[0].sync[] | "\($name[.tid | tostring]) \(.function) \(.calls)"),
		(.[1].locks[] | select(.type != "thread") |
		 "\(.type) \(.name) \(.acquired)")' sync.json locks.json threads.json | sort
}
