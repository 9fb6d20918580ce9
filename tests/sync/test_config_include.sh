#!/bin/bash
# SPDX-License-Identifier: MIT
# [sync] include and exclude: every operation on objects of the selected modules is recorded, none of the
# others, whichever module calls; and a note tells so.
. "$GM_TOP/tests/sync/common.sh"

for module in a b c_one c_two; do
	$CC -std=gnu17 -O1 -g -fPIC -shared -DMODULE=$module -o lib$module.so "$programs/include.c" ||
		fail "cannot compile lib$module.so"
done
build include -L. -la -lb -Wl,-rpath,"$PWD"

# exercise STATUS [ARG...]: writes ./operations: THREAD EVENT RESULT LABEL [MUTEX], in each thread's order.
# The main thread of a child is 0.5; begins of waits are omitted, since they depend on timing. The first user
# of an object with two owners is 1, the other 2.
exercise()
{
	local status=0 wanted=$1
	shift
	traced ./include "$@" >out 2>err 3>places || status=$?
	[ $status -eq "$wanted" ] || { cat out err; fail "exit status $status"; }
	[ ! -s err ] || { cat err; fail "unexpected message"; }
	events gprof-mt.data >events
	no_complaint
	grep -Ev ' [a-z_]+_begin | (site|path|call_path|io_call) ' events | awk '
		function hex(text) { sub(/.*=0x/, "", text); return tolower(text) }
		$1 == "parent" { parent = $2; next }
		FILENAME == "places" { label[$2] = $1; next }
		{
			what = "-"; mutex = ""; result = "-"
			for (i = 4; i <= NF; i++) {
				if ($i ~ /^object=/ && hex($i) in label) what = label[hex($i)]
				if ($i ~ /^result=/) result = $i
				if ($i ~ /^mutex=/) mutex = hex($i) in label ? " " label[hex($i)] : " " $i
			}
			print $1 + ($1 == 0 && $2 != parent) / 2, $3, result, what mutex
		}' places - | sort -s -n -k 1,1 >operations
}

configure() # KEY = VALUE...: with mode = all, unless another one is given
{
	printf '[sync]\n' >include.conf
	[[ " $*" == *" mode ="* ]] || echo 'mode = all' >>include.conf
	printf '%s\n' "$@" >>include.conf
	export GPROF_MT_CONFIG=$PWD/include.conf
}

# wanted LABEL...: prints the lines of ./full with these labels
wanted()
{
	awk -v labels=" $* " '
		function has(label) { return index(labels, " " label " ") > 0 }
		$4 == "twice" { owner = ++n_twice <= 5 ? "a" : "b" }
		$4 == "early" { owner = ++n_early == 1 ? "a" : "program" }
		$4 == "c" { owner = ++n_c <= 3 ? "c1" : "c2" }
		$4 !~ /^(twice|early|c)$/ { owner = $4 }
		NF == 5 { if (!has($5)) $5 = has(owner) ? "mutex=0x0" : "-"; if ($5 != "-") print; next }
		owner == "-" || has(owner)' full
}

note='not recorded: objects of some modules (sync.include, sync.exclude)'

# check LABEL...: ./operations has exactly these, each table has the note, and no contradiction is reported
check()
{
	wanted "$@" >expected
	diff expected operations || fail "$*: the operations differ from those of a full recording"
	"$gprof_mt" report --format json sync locks quality >report || fail "$*: no report"
	# The tables of lock waits and of failed tries exist only if their rows do.
	[ "$(jq -r '.notes[] | select(.section | test("^lock_") | not) | .note' report | grep -Fxc "$note")" -eq 3 ] || fail "$*: $(jq -c .notes report)"
	jq -e '.quality == []' report >quality || fail "$*: contradictions: $(jq -c .quality report)"
	cmp -s out full.out || fail "$*: the program's output changed"
}

configure 'include = *' 'exclude = none'
exercise 7
mv operations full
mv out full.out
"$gprof_mt" report --format json sync | jq -r '.notes[].note' | grep -F "$note" && fail "unexpected note about missing modules"
[ "$(grep -c ' c$' full)" -eq 6 ] || fail "libc_one and libc_two: $(grep ' c$' full)"
echo "all: ok"

configure 'exclude = liba.so*'
exercise 7
check program b c1 c2
configure 'include = *, x' 'exclude = libb.s?, libc_one*'
exercise 7
check program a c2
configure 'exclude = libc_tw*.so'
exercise 7
check program a b c1
configure 'include = include'
exercise 7
check program
configure 'include = lib*, none' 'exclude = include'
exercise 7
check a b c1 c2
echo "each: ok"

# Operations of excluded modules are not counted either.
configure 'mode = contended' 'path_sample = off' 'exclude = include, liba.so, libc_*'
exercise 7
"$gprof_mt" report --format json sync locks quality >report
jq -e '.quality == []' report >quality || fail "contended: $(jq -c .quality report)"
n=$(jq '[.sync[] | select(.function == "pthread_mutex_trylock").calls] | add' report)
[ "$n" = 4 ] || fail "contended: expected 4 tries, got $n: $(jq -c .sync report)"
echo "counted: ok"

# A child knows which module defined which object.
configure 'types = all'
exercise 0 fork
mv operations full
mv out full.out
for module in a b; do
	configure "exclude = lib$module.so"
	exercise 0 fork
	check program "$(tr ab ba <<<$module)"
done
echo "children: ok"

# More objects than the table initially holds, by two threads at the same time.
for run in none:50000 liba.so:20000 include:30000; do
	configure "exclude = ${run%:*}"
	traced ./include many 3>&1 || fail "many: exit status"
	n=$(babeltrace2 gprof-mt.data/*/user 2>babeltrace.err | grep -c ' mutex_unlock: ')
	[ "$n" -eq "${run#*:}" ] || fail "many without $run: expected ${run#*:} unlocks, got $n"
	! grep . babeltrace.err || fail "babeltrace2 complained"
done
"$gprof_mt" report --format json quality | jq -r '.notes[].note' | grep 'too many' && fail "a note says that too many objects were used"
echo "many: ok"
