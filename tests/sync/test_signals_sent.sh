#!/bin/bash
# SPDX-License-Identifier: MIT
# Signals sent, and cancellation: target, signal number, order before the handler's operations, and failed
# calls.
. "$GM_TOP/tests/sync/common.sh"

hex()
{
	printf 0x%X "$1"
}

build raise
./raise >bare
same=$?
traced ./raise >out
status=$?
[ $same -eq 143 ] && [ $status -eq $same ] || fail "expected exit status $same as without the library, got $status"
events >events
no_complaint

pid=$(sed -n 's/^pid //p' out)
me=$(hex "$pid") thread=$(hex "$(sed -n 's/^thread //p' out)") self=$(hex "$(sed -n 's/^self //p' out)")
nobody=$(hex $((0x3ffffff)))
expect 1 " signal_kill result=0 site=[1-9][0-9]* object=$me value=10\$"
expect 1 " signal_kill result=0 .*object=$me value=0\$"
expect 1 " signal_kill result=0 .*object=$nobody value=10\$"
expect 1 " signal_kill result=0 .*object=0x0 value=1000\$"
expect 1 " signal_tgkill result=0 .*object=$me value=10\$"
expect 2 " signal_raise result=0 .*object=$me value=10\$"
expect 1 " signal_raise result=0 .*object=$me value=12\$"
expect 1 " signal_raise result=0 .*object=$me value=14\$"
expect 1 " signal_raise result=0 .*object=$me value=15\$"
expect 1 " signal_sigqueue result=0 .*object=$me value=34\$"
expect 1 " thread_kill result=0 .*object=$self value=10\$"
expect 1 " thread_kill result=0 .*object=$thread value=10\$"
expect 1 " thread_sigqueue result=0 .*object=$self value=34\$"
expect 1 " thread_cancel result=0 .*object=$thread\$"
expect 1 " signal_failed result=22 .*object=0x0\$"
expect 1 " signal_failed result=22 .*object=$me\$"
expect 1 " signal_killpg result=0 .* value=10\$"
expect 6 " signal_failed "
expect 2 " thread_failed result=22 .*object=$self\$"
expect 2 " thread_failed "

# Operations of the handler follow the event that raised the signal and precede the next event.
awk -v pid="$pid" '$2 == pid && ($3 ~ /^signal_[krst]/ || $3 ~ /^thread_[ks]/ || $3 == "sem_post") \
	{ print $3 }' events | head -n 15 >order
printf '%s\n' signal_kill sem_post signal_tgkill sem_post signal_raise sem_post thread_kill sem_post \
	signal_raise signal_raise sem_post signal_sigqueue sem_post thread_sigqueue sem_post >wanted
cmp -s wanted order || { diff wanted order; fail "the operations of a handler are out of order"; }
echo "as raised: ok"

"$GM_BUILD/gprof-mt" report --format json sync >sync.json || fail "report: exit status $?"
calls()
{
	jq -r --arg f "$1" '[.sync[] | select(.function == $f) | .calls] | add' sync.json
}
[ "$(calls kill)" = 4 ] && [ "$(calls raise)" = 6 ] && [ "$(calls pthread_kill)" = 3 ] &&
	[ "$(calls pthread_cancel)" = 1 ] && [ "$(calls sigqueue)" = 2 ] ||
	{ cat sync.json; fail "unexpected call counts in the report"; }
"$GM_BUILD/gprof-mt" history --format json --object "$(hex "$pid")" >history.json ||
	fail "history: exit status $?"
[ "$(jq -r '[.objects[] | .ops[] | select(.op == "signal_raise") | .signal] | join(" ")' history.json)" = \
	"SIGUSR1 SIGUSR2 SIGUSR1 SIGALRM 1000 SIGTERM" ] || { cat history.json; fail "history"; }
echo "reported: ok"
