#!/bin/bash
# SPDX-License-Identifier: MIT
# Thread-specific keys: the program has key 0 and all but one of the others, and may delete, clear and
# overwrite any: nothing is lost, and no thread leaves anything behind.
. "$GM_TOP/tests/lib.sh"

need babeltrace2

# number WORD: what the program says on stderr
number()
{
	sed -n "s/^$1 //p" err
}

build_pg keys
build keys -o keys_bare
# Takes the first 40 keys before our libraries begin.
cat >early.c <<'C'
#include <pthread.h>
__attribute__((constructor)) static void begin(void)
{
	pthread_key_t key;

	for (int i = 0; i < 40; i++)
		pthread_key_create(&key, 0);
}
C
"$CC" -shared -fPIC -Wl,-z,initfirst -o early.so early.c || fail "cannot compile early.c"

n=600
for mode in look delete create clear overwrite late early; do
	preload=
	[ $mode != early ] || preload=./early.so
	LD_PRELOAD=$preload ./keys_bare $mode $n >bare 2>bare.err || fail "$mode: the program fails"
	fresh env LD_PRELOAD="$libsync${preload:+ $preload}" ./keys $mode $n >out 2>err ||
		fail "$mode: status $? under both libraries: $(cat err)"
	cmp bare out || fail "$mode: $(cat out) instead of $(cat bare)"
	[ "$(number deleted)" = "" ] || [ "$(number deleted)" -le 1 ] ||
		fail "$mode: $(number deleted) keys are ours"
	[ "$(number keys)" = "" ] || [ "$(number keys)" -ge 1023 ] || fail "$mode: $(number keys) keys are left"
	babeltrace2 gprof-mt.data/*/user 2>/dev/null >events || fail "$mode: babeltrace2"
	starts=$(grep -c ' thread_start: ' events) exits=$(grep -c ' thread_exit: ' events)
	calls=$("$gprof_mt" report --format json flat | python3 -c '
import json, sys
print(sum(f["calls"] for f in json.load(sys.stdin)["functions"] if f["name"] == "work"))')
	streams=$(find gprof-mt.data -name 'stream_*' | wc -l)
	echo "$mode: $starts threads, $exits ends, $calls calls, $streams streams $(tr '\n' ' ' <err)"
	[ "$starts" -eq $n ] || fail "$mode: $starts of $n threads began"
	[ "$calls" -eq $n ] || fail "$mode: $calls of $n calls"
	[ "$streams" -le 20 ] || fail "$mode: $streams streams"
	case $mode in
	delete | clear | early) ;;
	*) [ "$exits" -ge $n ] || fail "$mode: $exits of $n ends" ;;
	esac
done
