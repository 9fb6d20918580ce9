#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A capture of processes in another PID namespace, whose numbers say nothing here: while one of them runs, it is
# neither renamed nor removed; once they have ended it is replaced as any other, also if they were killed.  Overlayfs,
# as the root of most containers, keeps no lock: there a capture is replaced if its processes noted that they ended, by
# any function that ends a process.  A child that ends in the memory of its parent (vfork) changes nothing.
. "$GM_TOP/tests/lib.sh"

container=(unshare --fork --pid --mount-proc --kill-child)
if [ -z "${OVERLAY-}" ]; then
	"${container[@]}" true 2>/dev/null || skip "no PID namespaces"
else
	mount -t tmpfs tmpfs . && cd "$PWD" && mkdir lower upper work root &&
		mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay root 2>/dev/null &&
		cd root || { echo "no overlayfs"; exit 0; }
fi
cat >app.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
void work(void);
__attribute__((noinline)) void work(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}
/* It cannot fork, and continues. */
static void fail_as_daemon(void)
{
	const struct rlimit none = {0, 0};
	setrlimit(RLIMIT_NPROC, &none);
	if (setuid(65534) == 0 && daemon(1, 1) != 0)
		work();
}
/*
 * "stay": says its number and goes on until standard input ends; "child": a child of fork does, alone.  Other words:
 * before, a child of vfork ends in that way, or it fails to become a daemon; after, it ends in that way itself.
 */
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char byte;
	work();
	if (argc < 2 || (strcmp(how, "child") == 0 && fork() != 0))
		return 0;
	if (strcmp(how, "vfork-exit") == 0 && vfork() == 0)
		exit(0);
	if (strcmp(how, "vfork-_exit") == 0 && vfork() == 0)
		_exit(0);
	if (strcmp(how, "no-daemon") == 0)
		fail_as_daemon();
	work();
	printf("up %d\n", (int)getpid());
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		work();
	if (strcmp(how, "_Exit") == 0)
		_Exit(0);
	if (strcmp(how, "quick_exit") == 0)
		quick_exit(0);
	if (strstr(how, "exit") != NULL)
		_exit(0);
	return 0;
}
END
"$CC" -pg -g -O1 -pthread -o app app.c -L"$GM_BUILD" -Wl,-rpath,"$GM_BUILD" -lgmon_mt || fail "cannot compile"
printf '[output]\ndir = %s\n' "$PWD/data" >data.conf

# start_here COMMAND...: until its word.  Ends with stop (its input ends) or kill_all.
start_here()
{
	rm -rf data data.old in up err
	mkfifo in up
	GPROF_MT_CONFIG=$PWD/data.conf "$@" <in >up 2>err &
	program=$!
	exec 8>in 9<up
	read -r -t 60 word number <&9 && [ "$word" = up ] || fail "$*: expected 'up' from the program: $(cat err)"
}

start()
{
	start_here "${container[@]}" "$@"
}

stop()
{
	exec 8>&-
	wait $program || fail "$what: status $?: $(cat err)"
	exec 9<&-
}

# --kill-child: the first process of the namespace goes with unshare, and all others with it.
kill_all()
{
	kill -KILL $program
	wait $program 2>/dev/null
	read -r -t 60 -N 1 _ <&9 # until the last has ended
	exec 8>&- 9<&-
}

# kept WORDS READER...: runs that would write there leave it, in a line with the reason and the remedy
n_kept=0
kept()
{
	local words=$1 inode run how
	shift
	inode=$(stat -c %i data data/session)
	for run in 1 2; do
		for how in bare record; do
			if [ $how = record ]; then
				"$@" "$gprof_mt" record -q -o data -- ./app >out 2>message </dev/null &&
					fail "$what: $*: record, run $run, does not refuse"
			else
				GPROF_MT_CONFIG=$PWD/data.conf "$@" ./app >out 2>message </dev/null ||
					fail "$what: $*: status $?"
			fi
			[ "$(wc -l <message)" = 1 ] && grep -q "data: $words.*choose another directory" message ||
				fail "$what: $*: $how, run $run: $(cat message)"
			[ ! -e data.old ] && [ "$(stat -c %i data data/session)" = "$inode" ] ||
				fail "$what: $*: $how, run $run: the capture in use was renamed"
		done
	done
	n_kept=$((n_kept + 1))
}

# replaced READER...: a run renames it
replaced()
{
	"$@" "$gprof_mt" record -q --set kernel.source=none -o data -- ./app 2>message </dev/null ||
		fail "$what: $*: record: $(cat message)"
	[ ! -s message ] && [ -e data.old ] || fail "$what: $*: $(cat message) $(ls)"
}

# each_way BUSY KILLED: what a reader elsewhere says of a capture in use, and of a killed one ("": it replaces it)
record=("$gprof_mt" record -q --set kernel.source=none -o "$PWD/data" --)
each_way()
{
	local how command
	for how in stay child record-stay record-child; do
		what=$how
		command=()
		[[ $how != record-* ]] || command=("${record[@]}")
		# The first process waits for all: its end would kill the others.  All keep `up` open: see kill_all.
		command+=(./app "${how#record-}")
		# shellcheck disable=SC2016 # for the shell
		[[ $how != *child ]] || command=(sh -c 'exec 3>&1; "$@" | cat' sh "${command[@]}")
		start "${command[@]}"
		kept "$1"
		kept "$1" unshare --fork --pid --mount-proc
		# /proc is that of the namespace above.
		[ $how != child ] || kept "$1" unshare --fork --pid
		stop
		replaced unshare --fork --pid
		start "${command[@]}"
		kill_all
		if [ -z "$2" ]; then
			replaced unshare --fork --pid --mount-proc
		else
			kept "$2" # a new namespace may have the number of one that has ended
		fi
		echo "$how: kept while it runs; ${2:+not }replaced when it was killed"
	done
	for how in _exit _Exit quick_exit vfork-exit vfork-_exit no-daemon; do
		for library in "" "$libsync"; do
			what="$how ${library##*/}"
			start env LD_PRELOAD="$library" ./app $how
			kept "$1"
			stop
			replaced unshare --fork --pid
		done
		echo "$how: kept while it runs, replaced when it has ended"
	done
	# The other way round: it runs here, and the next run is in a container.
	what="runs here"
	start_here ./app stay
	kept "$1" "${container[@]}"
	stop
	replaced "${container[@]}"
	start_here ./app stay
	kill_all
	replaced
}

busy="is still being written to: a process of the capture still runs"
unknown="exists and is not a finished gprof-mt capture: its process [0-9]*, of another PID namespace or machine, \
did not say that it ended; remove it, if it did"
if [ -n "${OVERLAY-}" ]; then
	each_way "$unknown" "$unknown"
	echo "on overlayfs: $n_kept readers left a capture in use alone, 4 runs each"
	exit 0
fi
"$gprof_mt" record -q -o data -- ./app || fail "record: status $?"
grep -q "^lock 1" data/session || skip "this file system keeps no lock: $(stat -f -c %T .)"
each_way "$busy" ""

# A process here has the number of a fork child there, and is older: a program that it starts does not join.
what="the same number"
# The shells have the numbers 2 to 10: until all wait, nothing else is started there.
mkfifo go.{2..10}
cat >waits.sh <<'END'
: >waits.$$
read -r _ <go.$$
GPROF_MT_CONFIG=$PWD/data.conf ./app 2>message.$$
touch ran.$$
END
"${container[@]}" sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sh waits.sh & done; wait' &
numbers=$!
all_wait()
{
	[ "$(find . -maxdepth 1 -name 'waits.*[0-9]' | wc -l)" = 9 ]
}
uptime_is_later()
{
	[ "$(cut -d ' ' -f 1 /proc/uptime)" != "$uptime" ]
}
until_true 60 all_wait || fail "$what: the shells do not wait"
uptime=$(cut -d ' ' -f 1 /proc/uptime)
until_true 60 uptime_is_later
# shellcheck disable=SC2016 # for the shell
start sh -c 'exec 3>&1; "$@" | cat' sh ./app child
[ -e "waits.$number" ] || fail "$what: no shell has the number $number"
echo >"go.$number"
until_true 60 test -e "ran.$number"
grep -q "data: $busy" "message.$number" || fail "$what: it joined: $(cat "message.$number")"
stop
kill -KILL $numbers

# Another start of this machine; and a capture of a file system that another machine may share.
boot="s/^clock_uuid .*/clock_uuid 11111111-2222-3333-4444-555555555555/"
what="another boot"
start ./app stay
kill_all
sed -i "$boot" data/session
replaced
for line in "" "$boot"; do
	what="another machine '$line'"
	start ./app stay
	kill_all
	sed -i "/^lock 1/d; s/^pid_namespace .*/pid_namespace 4026000000/; $line" data/session
	kept "$unknown"
done
echo "$n_kept readers left a capture in use alone, 4 runs each"

mkdir overlay && cd overlay && OVERLAY=yes unshare --mount bash "$0"
