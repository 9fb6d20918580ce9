# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Functions for the tests of `record --pid`.
. "$GM_TOP/tests/record/common.sh"

# The command by which attach() runs gprof-mt as another user.
user=()

# start_known [COMMAND...]: starts ./known and waits until its threads run; sets `known` to its pid.
start_known()
{
	build known
	"$@" ./known >known.out &
	known=$!
	# shellcheck disable=SC2064 # expanded now on purpose
	trap "kill $known 2>/dev/null" EXIT
	until_true 60 grep -q known known.out || fail "known does not start"
}

# attach ARG...: starts recording of $known in the background, with its messages in err; sets `recorder` to its pid.
# Returns when it has attached.
attach()
{
	keep_captures .
	rm -rf gprof-mt.data gprof-mt.data.old err
	"${user[@]}" "$gprof_mt" record --pid "$known" "$@" >out 2>err &
	recorder=$!
	until_true 60 has_attached || fail "not attached: $(cat err)"
}

has_attached()
{
	grep -qs '^gprof-mt: attached to process' err || ! kill -0 "$recorder" 2>/dev/null
}

# end_attach: ends it as Ctrl-C does; its exit status must be 0.
end_attach()
{
	kill -INT "$recorder"
	wait "$recorder" || fail "exit status $? of record: $(cat err)"
}

# state_of PID: prints what a recording could change in the process: its signals, tracer, descriptors and mappings.
# Stacks of threads come and go.
state_of()
{
	grep -E '^(Sig(Pnd|Blk|Ign|Cgt)|Tracer|Uid|Seccomp|NoNewPrivs)' "/proc/$1/status"
	find "/proc/$1/fd" -printf '%f %l\n' | sort
	grep -F / "/proc/$1/maps"
}

# witness FILE: the kernel's own account of the lasting threads of $known, as lines
# "TID NAME RUN_NS VOLUNTARY INVOLUNTARY".
witness()
{
	local tid name task
	while read -r tid name; do
		task=/proc/$known/task/$tid
		echo "$tid $name $(cut -d' ' -f1 "$task/schedstat")" \
			"$(awk '/ctxt_switches/ { print $2 }' "$task/status" | xargs)"
	done <known.out >"$1"
}

# has_worked FILE: has `ping` been switched 200 times since that witness, and `spinner` at least once?
has_worked()
{
	local before
	before=$(awk '$2 == "ping" { print $4 }' "$1")
	witness now.witness
	awk -v before="$before" '$2 == "ping" && $4 - before >= 200 { done = 1 } END { exit !done }' now.witness
}
