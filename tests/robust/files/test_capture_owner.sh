#!/bin/bash
# SPDX-License-Identifier: MIT
# A directory is renamed or removed only if it is a finished capture of this user.  Anything else is
# named in an error and remains unchanged.
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
	/* "daemon": continues in a child until standard input ends. */
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

# A digest of everything below a directory: names, modes, contents.
digest()
{
	(cd "$1" && find . -printf '%p %m %y\n' -exec sh -c 'test -f "$1" && ! test -L "$1" && cat "$1"' _ {} \; |
		LC_ALL=C sort | sha256sum)
}

n_kept=0
# keeps DIR WORDS COMMAND...: three runs of a command that writes to DIR print WORDS and leave DIR unchanged
keeps()
{
	local dir=$1 words=$2 before run
	shift 2
	before=$(digest "$dir")
	for run in 1 2 3; do
		"$@" >out 2>err
		grep -q -- "$words" err || fail "$dir, run $run of $*: expected '$words' on stderr, found '$(cat err)'"
		[ "$(wc -l <err)" = 1 ] || fail "$dir: expected one line on stderr, found: $(cat err)"
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

# Files named `session` without a valid content.
mkdir d && echo precious >d/session && echo more >d/file
each_way d "d: exists and is not a finished gprof-mt capture: its file 'session' is invalid"
echo "gprof-mt-capture 1" >d/session
each_way d "its file 'session' is invalid"
mkdir e && mkfifo e/session
each_way e "its file 'session' is invalid"
mkdir f f/session && echo precious >f/session/file
each_way f "its file 'session' is invalid"

# A capture that also contains files of the user, at any depth; a capture that others may write to.
make_capture()
{
	rm -rf "$1"
	"$gprof_mt" record -q -o "$1" -- ./app || fail "record -o $1"
}
make_capture c
echo notes >c/notes.txt
each_way c "c: exists and is not a finished gprof-mt capture: it contains 'notes.txt', which is not part of a capture"
rm c/notes.txt
folder=$(echo c/[0-9]*)
echo notes >"$folder/notes.txt"
each_way c "it contains 'notes.txt'"
rm "$folder/notes.txt"
mkdir "$folder/gmon.d" && echo notes >"$folder/gmon.d/notes"
each_way c "it contains 'gmon.d'"
rm -r "$folder/gmon.d"
chmod 777 c
each_way c "it belongs to another user, or others may write to it"
chmod 700 c

# An existing c.old is replaced only if it is a finished capture.
mkdir c.old && echo precious >c.old/session
before=$(digest c)$(digest c.old)
for run in 1 2 3; do
	"$gprof_mt" record -q -o c -- ./app 2>err && fail "c.old: replaced"
	grep -q "cannot rename it to c.old: there, its file 'session' is invalid" err || fail "c.old: expected an invalid 'session' on stderr, found: $(cat err)"
	[ "$before" = "$(digest c)$(digest c.old)" ] || fail "c.old: changed"
done
rm -r c.old

# A finished capture is renamed to .old, and the .old of the run before is replaced.
for run in 1 2 3; do
	"$gprof_mt" record -q -o c -- sh -c "exit $run"
	[ $? = $run ] || fail "record over a capture, run $run"
done
grep -q '"exit_status" : 2' c.old/info.json || fail "c.old is not the capture of the run before"
[ -z "$(find . -name '*.discarded.*')" ] || fail "expected no '*.discarded.*', found: $(ls -A)"

# The capture of a daemon that still runs after its parent has ended, with and without record.
daemon()
{
	local dir=$1 pid
	shift
	mkfifo in
	"$@" <in >up 2>err &
	exec 9>in
	for _ in $(seq 600); do
		grep -qs up up && break
		read -rt 0.1 <> <(:)
	done
	grep -q up up || fail "expected 'up' from the daemon, found: $(cat err)"
	wait $!
	each_way "$dir" "is still being written to: process [0-9]* still runs"
	exec 9>&-
	pid=$(sed -n 's/.*process \([0-9]*\) still runs.*/\1/p' err)
	for _ in $(seq 600); do
		[ -e "/proc/$pid" ] || break
		read -rt 0.1 <> <(:)
	done
	"$gprof_mt" record -q -o "$dir" -- ./app 2>err || fail "after the daemon: $(cat err)"
	[ -e "$dir.old" ] || fail "after the daemon: no .old"
	rm -r "$dir" "$dir.old" in up
}
printf '[output]\ndir = g\n' >g.conf
GPROF_MT_CONFIG=$PWD/g.conf daemon g ./app daemon
daemon h "$gprof_mt" record -q --set kernel.source=none -o h -- ./app daemon

# A capture is finished if the pid of its owner now belongs to another process, or if it is from an
# earlier boot.
make_capture i
sed -i "s/^owner .*/owner $$ 1/" i/session
"$gprof_mt" record -q -o i -- ./app || fail "a capture whose owner's pid was reused is not replaced"
rm -r i.old
start=$(awk '{ print $22 }' /proc/$$/stat)
sed -i "s/^owner .*/owner $$ $start/" i/session
keeps i "is still being written to" "$gprof_mt" record -q -o i -- ./app
sed -i 's/^clock_uuid .*/clock_uuid 11111111-2222-3333-4444-555555555555/' i/session
"$gprof_mt" record -q -o i -- ./app || fail "a capture from an earlier boot is not replaced"

# A full disk may cut short the line that record adds to `session`: then it noted no end, and the capture is read.
make_capture j
[ "$(tail -n 1 j/session)" = "ended 1" ] || fail "record notes no end: $(tail -n 1 j/session)"
sed -i '$d' j/session
line=$'ended 1\n'
for n in 0 1 2 3 4 5 6 7 8; do
	printf %s "${line::n}" >>j/session
	"$gprof_mt" report -i j quality >out 2>err || fail "cut after $n bytes: $(cat err)"
	"$gprof_mt" record -q --set kernel.source=none -o j -- ./app 2>err || fail "cut after $n bytes: $(cat err)"
	sed -i '$d' j/session
done
printf 'other' >>j/session
"$gprof_mt" report -i j quality >out 2>err && fail "another line, cut short, is accepted"
grep -q "cut short" err || fail "another line, cut short: $(cat err)"

# A kernel or sandbox that refuses the lock of `session`, or accepts it without effect: session does not promise it.
cat >without_lock.c <<'END'
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
/* ERROR COMMAND...: F_OFD_SETLK returns this error; 0: success. */
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 3),
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_OFD_SETLK, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | atoi(argv[1])),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
	(void)argc;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return 77;
	execv(argv[2], argv + 2);
	return 1;
}
END
"$CC" -D_GNU_SOURCE -o without_lock without_lock.c || fail "cannot compile"
printf '[output]\ndir = l\n' >l.conf
for error in 22 0; do
	rm -rf l l.old
	GPROF_MT_CONFIG=$PWD/l.conf ./without_lock $error ./app 2>err || fail "error $error: status $?: $(cat err)"
	[ ! -s err ] || fail "error $error: $(cat err)"
	! grep -q '^lock' l/session || fail "error $error: it has no lock, and 'session' names one"
	namespace=$(stat -L -c %i /proc/self/ns/pid)
	grep -qx "pid_namespace $namespace" l/session || fail "error $error: $(cat l/session)"
	GPROF_MT_CONFIG=$PWD/l.conf ./without_lock $error ./app 2>err || fail "error $error, again: $(cat err)"
	[ -e l.old ] && [ ! -s err ] || fail "error $error: not replaced: $(cat err)"
done

# The line is only added to the file that record made: not to a file of the user under that name.
for link in "ln -f" "ln -sf"; do
	rm -rf k k.old
	echo precious >file
	"$gprof_mt" record -q --set kernel.source=none -o k -- sh -c "$link $PWD/file k/session" 2>err
	[ "$(cat file)" = precious ] || fail "$link: record wrote '$(tail -n 1 file)' to a file of the user"
done
echo "$n_kept directories kept, 3 runs each"
exit 0
