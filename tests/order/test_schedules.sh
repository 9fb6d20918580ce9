#!/bin/bash
# SPDX-License-Identifier: MIT
# A process takes a schedule that another tool has written by its documented format, keeps it, and removes its file.
# With damaged files, and ones that others could have written, the program ends as without them, in any order.
. "$GM_TOP/tests/lib.sh"
need python3
build one_lock
cat >numbers.c <<'END'
#include <stdio.h>
#include "sync-trace/events.h"
int main(void) { return printf("n_events %d\nmutex_lock %d\n", ST_N_EVENTS, ST_EVENT_mutex_lock) < 0; }
END
"$CC" -I"$GM_TOP/libsync-trace/include" -o numbers numbers.c || fail "cannot compile numbers.c"
./numbers >numbers.txt
printf '[sync]\nmode = all\norder = on\n' >order.conf

# scheduled NAME: runs the program with that file; its output is in `order`
scheduled()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	timeout 60 env GPROF_MT_CONFIG="$PWD/order.conf" GPROF_MT_SCHEDULE="$PWD/$1" LD_PRELOAD="$libsync" ./one_lock >order 2>err
}

for _ in 1 2 3 4 5; do
	python3 "${0%/*}/schedules.py" good schedule <numbers.txt || fail "schedules.py"
	scheduled schedule || fail "exit status $?"
	same "order" 01010101 "$(cat order)"
	[ ! -e schedule ] || fail "the file was not removed"
done

# A pair at the end: after three turns, both threads are before their next section, and either can be first.
for _ in 1 2 3 4 5; do
	for first in 0 1; do
		python3 "${0%/*}/schedules.py" first:$first schedule <numbers.txt || fail "schedules.py"
		scheduled schedule || fail "exit status $?"
		same "order of the pair" "010$first$((1 - first))" "$(cut -c 1-5 order)"
		same "of all" 00001111 "$(grep -o . order | sort | tr -d '\n')"
	done
done

# Files that others may write, symlinks, folders, and no file
python3 "${0%/*}/schedules.py" good schedule <numbers.txt
chmod 640 schedule
ln -s schedule symlink
mkdir folder
mkfifo fifo
for name in schedule symlink folder fifo nothing; do
	scheduled $name || fail "$name: exit status $?"
	same "$name: length" 9 "$(wc -c <order)"
	[ $name = nothing ] || [ -e $name ] || fail "$name was removed"
done

kept=0
for seed in $(seq 90); do
	rm -f schedule
	python3 "${0%/*}/schedules.py" "$seed" schedule <numbers.txt || fail "schedules.py $seed"
	scheduled schedule || fail "seed $seed: exit status $?: $(cat err)"
	same "seed $seed" 00001111 "$(grep -o . order | sort | tr -d '\n')"
	[ "$(cat order)" != 01010101 ] || kept=$((kept + 1))
done
echo "$kept damaged schedules were kept"
