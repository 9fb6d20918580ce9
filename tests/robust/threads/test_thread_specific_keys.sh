#!/bin/bash
# SPDX-License-Identifier: MIT
# Thread-specific keys: the program can create all of them, beginning with key 0, and may delete, clear and
# overwrite each key: no event is lost, and no thread leaks memory.
. "$GM_TOP/tests/lib.sh"

need babeltrace2

# number WORD: prints the number that the program printed for WORD on stderr
number()
{
	sed -n "s/^$1 //p" err
}

build_pg keys
build keys -o keys_bare
# A library that takes the first 40 keys before our libraries are initialized.
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
for mode in look delete create c11 old clear overwrite late early; do
	preload=
	[ $mode != early ] || preload=./early.so
	LD_PRELOAD=$preload ./keys_bare $mode $n >bare 2>bare.err || fail "$mode: the program fails"
	fresh env LD_PRELOAD="$libsync${preload:+ $preload}" ./keys $mode $n >out 2>err ||
		fail "$mode: status $? under both libraries: $(cat err)"
	# The last key that the program gets may have been ours: any number.
	[[ $mode != @(create|c11|old) ]] || sed -i 's/^keys from 0 to .*/keys/' bare out
	cmp bare out || fail "$mode: expected '$(cat bare)' as bare, found '$(cat out)'"
	[ "$(number deleted)" = "" ] || [ "$(number deleted)" -le 1 ] ||
		fail "$mode: expected at most 1 key of the libraries, found $(number deleted)"
	[ "$(number keys)" = "" ] || [ "$(number keys)" -eq 1024 ] || fail "$mode: expected 1024 keys for the program, found $(number keys)"
	babeltrace2 gprof-mt.data/*/user 2>/dev/null >events || fail "$mode: babeltrace2"
	starts=$(grep -c ' thread_start: ' events) exits=$(grep -c ' thread_exit: ' events)
	calls=$("$gprof_mt" report --format json flat | python3 -c '
import json, sys
print(sum(f["calls"] for f in json.load(sys.stdin)["functions"] if f["name"] == "work"))')
	streams=$(find gprof-mt.data -name 'stream_*' | wc -l)
	echo "$mode: $starts threads, $exits ends, $calls calls, $streams streams $(tr '\n' ' ' <err)"
	[ "$starts" -eq $n ] || fail "$mode: expected $n thread starts, found $starts"
	[ "$calls" -eq $n ] || fail "$mode: expected $n calls, found $calls"
	[ "$streams" -le 20 ] || fail "$mode: expected at most 20 streams, found $streams"
	case $mode in
	delete | create | c11 | old | clear | early) ;;
	*) [ "$exits" -ge $n ] || fail "$mode: expected $n thread ends, found $exits" ;;
	esac
done
