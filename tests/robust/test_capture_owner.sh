#!/bin/bash
# SPDX-License-Identifier: MIT
# A directory is renamed or removed only if it is a capture of this user's that has ended; anything
# else is named in an error and stays as it is.
. "$GM_TOP/tests/lib.sh"

cat >app.c <<'END'
#include <unistd.h>
#include <stdio.h>
#include <string.h>
void work(void);
__attribute__((noinline)) void work(void) { __asm__ volatile(""); }
int main(int argc, char **argv)
{
	char byte;
	work();
	/* "daemon": goes on in a child until standard input ends. */
	if (argc > 1 && strcmp(argv[1], "daemon") == 0) {
		if (fork() != 0)
			return 0;
		work();
		puts("up");
		fflush(stdout);
		while (read(0, &byte, 1) > 0)
			work();
	}
	return 0;
}
END
"$CC" -pg -g -O1 -o app app.c -L"$GM_BUILD" -Wl,-rpath,"$GM_BUILD" -lgmon_mt || fail "cannot compile"

# A digest of all below a directory: names, modes, contents.
digest()
{
	(cd "$1" && find . -printf '%p %m %y\n' -exec sh -c 'test -f "$1" && ! test -L "$1" && cat "$1"' _ {} \; |
		LC_ALL=C sort | sha256sum)
}

n_kept=0
# keeps DIR WORDS COMMAND...: three runs of the command that would write to DIR leave it as it is.
keeps()
{
	local dir=$1 words=$2 before run
	shift 2
	before=$(digest "$dir")
	for run in 1 2 3; do
		"$@" >out 2>err
		grep -q -- "$words" err || fail "$dir, run $run of $*: '$(cat err)' does not say '$words'"
		[ "$(wc -l <err)" = 1 ] || fail "$dir: not one line: $(cat err)"
		[ "$before" = "$(digest "$dir")" ] || fail "$dir, run $run of $*: changed: $(ls -R "$dir")"
	done
	[ ! -e "$dir.old" ] || fail "$dir: renamed"
	n_kept=$((n_kept + 1))
}

each_way()
{
	local dir=$1 words=$2
	keeps "$dir" "$words" "$gprof_mt" record -q -o "$dir" -- ./app
	printf '[output]\ndir = %s\n' "$dir" >by.conf
	keeps "$dir" "$words" env GPROF_MT_CONFIG="$PWD/by.conf" ./app
}

# Files that are merely called `session`.
mkdir d && echo precious >d/session && echo more >d/file
each_way d "d: exists and is no finished gprof-mt capture: its file 'session' is not of a capture"
echo "gprof-mt-capture 1" >d/session
each_way d "its file 'session' is not of a capture"
mkdir e && mkfifo e/session
each_way e "its file 'session' is not of a capture"
mkdir f f/session && echo precious >f/session/file
each_way f "its file 'session' is not of a capture"

# A capture that also holds what is the user's, at any depth; one that others may write to.
make_capture()
{
	rm -rf "$1"
	"$gprof_mt" record -q -o "$1" -- ./app || fail "record -o $1"
}
make_capture c
echo notes >c/notes.txt
each_way c "c: exists and is no finished gprof-mt capture: it holds 'notes.txt', which is not of a capture"
rm c/notes.txt
folder=$(echo c/[0-9]*)
echo notes >"$folder/notes.txt"
each_way c "it holds 'notes.txt'"
rm "$folder/notes.txt"
mkdir "$folder/gmon.d" && echo notes >"$folder/gmon.d/notes"
each_way c "it holds 'gmon.d'"
rm -r "$folder/gmon.d"
chmod 777 c
each_way c "it belongs to another user, or others may write to it"
chmod 700 c

# What is there as c.old is only replaced if it is a finished capture.
mkdir c.old && echo precious >c.old/session
before=$(digest c)$(digest c.old)
for run in 1 2 3; do
	"$gprof_mt" record -q -o c -- ./app 2>err && fail "c.old: replaced"
	grep -q "cannot rename it to c.old: there, its file 'session' is not of a capture" err || fail "c.old: $(cat err)"
	[ "$before" = "$(digest c)$(digest c.old)" ] || fail "c.old: changed"
done
rm -r c.old

# A finished one is still kept once as .old, then replaced.
for run in 1 2 3; do
	"$gprof_mt" record -q -o c -- sh -c "exit $run"
	[ $? = $run ] || fail "record over a capture, run $run"
done
grep -q '"exit_status" : 2' c.old/info.json || fail "c.old is not the run before"
[ -z "$(find . -name '*.discarded.*')" ] || fail "something is left: $(ls -A)"

# The capture of a daemon that runs, its parent being gone, with and without record.
daemon()
{
	local dir=$1 pid
	shift
	mkfifo in
	"$@" <in >up 2>err &
	exec 9>in
	for _ in $(seq 600); do
		grep -q up up && break
		read -rt 0.1 <> <(:)
	done
	grep -q up up || fail "no daemon: $(cat err)"
	wait $!
	each_way "$dir" "a run that has not ended writes to it: process [0-9]* of it still runs"
	exec 9>&-
	pid=$(sed -n 's/.*process \([0-9]*\) of.*/\1/p' err)
	for _ in $(seq 600); do
		[ -e "/proc/$pid" ] || break
		read -rt 0.1 <> <(:)
	done
	"$gprof_mt" record -q -o "$dir" -- ./app 2>err || fail "after the daemon: $(cat err)"
	[ -e "$dir.old" ] || fail "after the daemon: no .old"
	rm -r "$dir" "$dir.old" in
}
printf '[output]\ndir = g\n' >g.conf
GPROF_MT_CONFIG=$PWD/g.conf daemon g ./app daemon
daemon h "$gprof_mt" record -q --set kernel.source=none -o h -- ./app daemon

# The number of a process that has ended, given to another, does not keep a capture; nor does one of
# an earlier boot.
make_capture i
sed -i "s/^owner .*/owner $$ 1/" i/session
"$gprof_mt" record -q -o i -- ./app || fail "a reused number keeps a capture"
rm -r i.old
start=$(awk '{ print $22 }' /proc/$$/stat)
sed -i "s/^owner .*/owner $$ $start/" i/session
keeps i "a run that has not ended writes to it" "$gprof_mt" record -q -o i -- ./app
sed -i 's/^clock_uuid .*/clock_uuid 11111111-2222-3333-4444-555555555555/' i/session
"$gprof_mt" record -q -o i -- ./app || fail "an earlier boot keeps a capture"
echo "$n_kept directories kept, 3 runs each"
exit 0
