# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# An LTTng session for a benchmark.  LTTNG_HOME must be set.

# begin_session NAME PATTERN... -- OPTION...: starts a daemon if none runs, and a session that records the events
# PATTERN of user space; OPTIONs are those of `lttng create`.  Sets `daemon` to the process to kill at the end, or to
# nothing.  If it fails, `why` says where.
begin_session()
{
	local name=$1 pattern patterns=()
	shift
	while [ "$1" != -- ]; do
		patterns+=("$1")
		shift
	done
	shift
	daemon=
	command -v lttng-sessiond >/dev/null || { why="lttng-sessiond is not installed"; return 1; }
	if ! lttng --no-sessiond list >/dev/null 2>&1; then
		lttng-sessiond --no-kernel --daemonize --pidfile="$LTTNG_HOME/daemon.pid" >/dev/null 2>&1 ||
			{ why="lttng-sessiond does not start"; return 1; }
		# shellcheck disable=SC2034 # for the caller
		daemon=$(cat "$LTTNG_HOME/daemon.pid")
	fi
	# shellcheck disable=SC2034 # for the caller
	why="cannot create an LTTng session"
	lttng create "$name" "$@" >/dev/null 2>&1 &&
		lttng enable-channel -u --subbuf-size=1M --num-subbuf=4 bench >/dev/null 2>&1 || return 1
	for pattern in "${patterns[@]}"; do
		lttng enable-event -u -c bench "$pattern" >/dev/null 2>&1 || return 1
	done
	lttng add-context -u -c bench -t vpid -t vtid -t procname >/dev/null 2>&1 && lttng start >/dev/null 2>&1
}
