#!/bin/bash
# SPDX-License-Identifier: MIT
# [sync] types: types that are switched off have no events, and nothing else changes.
. "$GM_TOP/tests/sync/common.sh"

configure() # KEY = VALUE...: with mode = all, unless another one is given
{
	printf '[sync]\n' >types.conf
	[[ " $*" == *" mode ="* ]] || echo 'mode = all' >>types.conf
	printf '%s\n' "$@" >>types.conf
	export GPROF_MT_CONFIG=$PWD/types.conf
}

# names PROGRAM: prints " N EVENT" of the events whose number is the same in each run; begins of waits depend
# on timing, and so does nearly everything in raise, which gets " EVENT"
names()
{
	cut -d ' ' -f 3 events | grep -Ev '_begin$|^site$|^path$|^call_path$|^cond_wait$' | sort | uniq -c |
		if [ "$1" = all ]; then cat; else sed 's/.* / /'; fi
}

# without TYPE: prints the names except those of TYPE and of its operations under other names
without()
{
	case $1 in
	signal) grep -Ev ' (signal_|thread_(kill|sigqueue|cancel|failed))' ;;
	thread) grep -Ev ' thread_(create|join|detach)' ;;
	cond) grep -Ev ' cond_(init|destroy|signal|broadcast)' ;;
	*) grep -v " $1" ;;
	esac
}

notes() # SECTION
{
	"$gprof_mt" report --format json "$1" | jq -r '.notes[].note' | grep '^not recorded: '
}

run_all() # PROGRAM STATUS
{
	local status=0
	traced "./$1" >out 2>err || status=$?
	[ $status -eq "$2" ] || { cat out err; fail "$1: exit status $status"; }
	events >events
	no_complaint
}

build all
build raise
configure 'types = all'
run_all all 42
names all >all.names
! notes sync || fail "unexpected note about missing types"
run_all raise 143
names raise >raise.names

for types in mutex cond signal 'sem, thread' 'rwlock, barrier, spin, once'; do
	configure "types = -${types//, /, -}"
	program=all status=42
	[ "$types" != signal ] || program=raise status=143
	cp $program.names wanted
	for type in ${types//,/}; do
		without "$type" <wanted >less
		! cmp -s wanted less || fail "$program has no operations of $type"
		mv less wanted
	done
	run_all $program $status
	names $program >got
	diff wanted got || fail "other events without $types"
	"$gprof_mt" report --format json sync locks quality >report
	# The table of lock waits exists only if its rows do.
	[ "$(jq -r '.notes[] | select(.section | test("^lock_") | not) | .note' report | grep '^not recorded: ' | uniq -c | xargs)" = \
		"3 not recorded: $types (sync.types)" ] ||
		fail "$types: $(jq .notes report)"
	jq -e '.quality == []' report >quality || { jq .quality report; fail "contradictions without $types"; }
	for type in ${types/cond/}; do # cond waits are waits of mutexes
		jq -e --arg t "${type%,}" '[.locks[].type] | index($t) == null' report >found ||
			fail "report locks has a $type"
	done
done
echo "each: ok"

# Only one type; its operations include those that waits release and reacquire.
configure 'types = all, -mutex , -cond,-rwlock,-sem,-barrier,-spin,-thread,-signal'
run_all all 42
[ "$(names all | awk '{ print $2 }' | xargs)" = "once thread_exit thread_start" ] || fail "once alone: $(names all)"
[ "$(notes summary)" = "not recorded: mutex, cond, rwlock, sem, barrier, spin, thread, signal (sync.types)" ] ||
	fail "$(notes summary)"
configure 'types = mutex'
run_all all 42
names all | grep -Ev ' (mutex|thread_start|thread_exit|cond_timedwait)' && fail "operations of other types are recorded"
expect "$(grep -c ' cond_wait_begin ' events)" ' cond_wait result=0 '
echo "one: ok"

# They are not counted either.
configure 'mode = contended' 'path_sample = off' 'types = -mutex, -spin'
run_all all 42
expect 0 ' (mutex|spin)_'
"$gprof_mt" report --format json sync | jq -r '.sync[].function' >functions
grep -q rwlock functions || fail "expected rwlock operations to be counted"
! grep -E 'mutex|spin' functions || fail "types that are switched off are counted"
echo "counts: ok"

# Wrappers pass the call through, whatever it returns: from the first call in a constructor to the last, and
# in children.
build behaviour
build fork -no-pie
configure 'types = once'
./behaviour >bare
traced ./behaviour >behaved
[ $? -eq 17 ] || fail "behaviour: exit status"
diff bare behaved || fail "the transcripts differ"
$CC -std=gnu17 -g -O1 -fno-builtin -fPIC -shared -o libearly.so "$programs/early.c" || fail "cannot compile"
build startup -L. -learly -Wl,-rpath,"$PWD"
configure 'types = -mutex'
traced ./startup >out 2>err
[ $? -eq 5 ] || fail "startup: exit status"
events >events
expect 0 ' mutex_'
traced ./fork >out || fail "fork: exit status"
events gprof-mt.data >events
no_complaint
expect 0 ' mutex_'
echo "everywhere: ok"
