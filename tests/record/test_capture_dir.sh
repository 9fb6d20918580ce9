#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The capture directory of a program that runs without `record` is created, joined, renamed or refused; the
# program always behaves the same.
set -e
. "$GM_TOP/tests/lib.sh"

cat >app.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void work(void);
__attribute__((noinline)) void work(void)
{
	__asm__ volatile("");
}

/* "fork N": makes N children that execute this program without arguments; "exec": does so itself. */
int main(int argc, char **argv)
{
	work();
	if (argc > 2) {
		for (int i = 0; i < atoi(argv[2]); i++)
			if (fork() == 0) {
				execl("/proc/self/exe", argv[0], (char *)NULL);
				_exit(1);
			}
		while (wait(NULL) > 0)
			;
	} else if (argc > 1) {
		execl("/proc/self/exe", argv[0], (char *)NULL);
	}
	puts("ran");
	return 7;
}
END
$CC -pg -g -O1 -o app app.c -L"$GM_BUILD" -lgmon_mt -Wl,-rpath,"$GM_BUILD"

# run COMMAND...: its output is "ran" and its exit status 7; its stderr is in err.
run()
{
	local out status=0
	out=$("$@" 2>err) || status=$?
	[ "$out" = ran ] || fail "$*: printed '$out': $(cat err)"
	[ $status = 7 ] || fail "$*: status $status"
}

quiet()
{
	[ ! -s err ] || fail "unexpected: $(cat err)"
}

# says PATTERN: stderr is one line that matches PATTERN.
says()
{
	[ "$(wc -l <err)" = 1 ] || fail "expected one line: $(cat err)"
	grep -q -- "$1" err || fail "expected '$1', got '$(cat err)'"
}

folders()
{
	find "$1" -mindepth 1 -maxdepth 1 -type d | wc -l
}

# First run: private files, and no others.
run ./app
quiet
[ "$(stat -c %a gprof-mt.data)" = 700 ] || fail "the directory is not private"
[ -z "$(find gprof-mt.data -type f ! -perm 600)" ] || fail "a file is not private"
[ "$(folders gprof-mt.data)" = 1 ] || fail "expected one process folder"
jq -e '.schema == 1 and .command[0] == "./app" and .kernel.source == "none"' \
	gprof-mt.data/info.json >/dev/null || fail "info.json"

# Second run: the first capture is kept as .old; third run: it replaces .old.
first=$(find gprof-mt.data -name 'gmon.*' -printf %f)
run ./app
quiet
[ "$(find gprof-mt.data.old -name 'gmon.*' -printf %f)" = "$first" ] || fail "not kept as .old"
run ./app
quiet
[ "$(folders gprof-mt.data.old)" = 1 ] || fail ".old not replaced"
[ -z "$(find . -name '*.new.*')" ] || fail "temporary names left behind"

# A child that executes a profiled program joins its parent's capture; so does a process that executes one.
: >forked
GMON_OUT_PREFIX=$PWD/out ./app fork 5 >forked 2>err || true
quiet
[ "$(grep -c ran forked)" = 6 ] || fail "children did not run"
[ "$(folders gprof-mt.data)" = 6 ] || fail "expected 6 folders, got $(folders gprof-mt.data)"
[ "$(find . -maxdepth 1 -name 'out.*' | wc -l)" = 6 ] || fail "GMON_OUT_PREFIX"
run ./app exec
quiet
[ "$(folders gprof-mt.data)" = 2 ] || fail "exec: expected two images"
[ -n "$(find gprof-mt.data -name '*.1' -type d)" ] || fail "exec: the second image has no folder"

# Another file or directory with that name is not changed.
mkdir elsewhere
cd elsewhere
mkdir gprof-mt.data
echo precious >gprof-mt.data/file
run ../app
says 'exists and is not a gprof-mt capture; choose another directory'
[ "$(cat gprof-mt.data/file)" = precious ] || fail "a file that is not part of a capture was changed"
rm -r gprof-mt.data
echo precious >gprof-mt.data
run ../app
says gprof-mt.data
[ "$(cat gprof-mt.data)" = precious ] || fail "changed a file"
rm gprof-mt.data
mkdir target
ln -s target gprof-mt.data
run ../app
says gprof-mt.data
[ -z "$(ls target)" ] || fail "followed a symlink"
rm gprof-mt.data

# The configuration: the message for a mistake has file, line, key and the accepted values; nothing is
# written.
while IFS='|' read -r text wanted; do
	printf '%b' "$text" >gprof-mt.conf
	run ../app
	says "$wanted"
	[ ! -e gprof-mt.data ] || fail "the program was profiled with '$text'"
done <<'END'
[profile]\nlevl = full\n|gprof-mt.conf:2: unknown key 'levl' in 'profile': use level
[profile]\n\n# note\nlevel = max\n|gprof-mt.conf:4: invalid value 'max' for profile.level: use applic-only . full-sched . full
[prof]\nlevel = full\n|gprof-mt.conf:2: unknown group 'prof': use profile . calls . sync . names . access . io . kernel . sample . output
level = full\n|gprof-mt.conf:1: cannot read 'level = full': a \[GROUP\] line must come before
[sync]\nbuffer\n|gprof-mt.conf:2: cannot read 'buffer': use KEY = VALUE
[sync]\nbuffer = 7\n|gprof-mt.conf:2: invalid value '7' for sync.buffer: use bytes from 16384
[sync]\nbuffer = 99999999999999999999999999\n|invalid value
[sync]\nbuffer = 64X\n|invalid value '64X'
[sync]\ntypes = mutex, lock\n|gprof-mt.conf:2: invalid value 'mutex, lock' for sync.types: use mutex . cond .* all, separated by commas
[sync]\ntypes =\n|invalid value '' for sync.types
[sync]\ntypes = mutex,\n|invalid value 'mutex,' for sync.types
[sync]\ntypes = -all\n|invalid value '-all' for sync.types
[sync]\nexclude = a, /lib/b.so\n|gprof-mt.conf:2: invalid value 'a, /lib/b.so' for sync.exclude: use module names without directory
[sync]\nexclude =\n|invalid value '' for sync.exclude
[sync]\ninclude = a,,b\n|invalid value 'a,,b' for sync.include
[output]\ndir =\n|invalid value '' for output.dir
END
printf '[calls]\r\nmode\t=  count \r\n[sync]\nbuffer = 64K\n[output]\ndir = a b' >gprof-mt.conf
run ../app
quiet
[ -d "a b" ] || fail "[output] dir is not used"
rm gprof-mt.conf
mkdir gprof-mt.conf
run ../app
says 'gprof-mt.conf: cannot read the configuration: is a directory'
rmdir gprof-mt.conf
GPROF_MT_CONFIG=$PWD/missing run ../app
says 'missing: cannot open the configuration: no such file'
printf '[calls]\nmode = off\n' >off.conf
rm -f gmon.out
GPROF_MT_CONFIG=off.conf run ../app
quiet
[ ! -e gmon.out ] || fail "mode = off wrote gmon.out"
rm -rf gprof-mt.data

# A directory that an ordinary user cannot write; and a set-user-id program, which trusts no environment
# variable.
if can_be_other; then
	reach=$(mktemp -d /tmp/gprof-mt-test.XXXXXX)
	trap 'rm -rf "$reach"' EXIT
	chmod 755 "$reach"
	cp "$GM_BUILD/libgmon_mt.so" "$reach"
	$CC -pg -g -O1 -o "$reach/app" ../app.c -L"$reach" -lgmon_mt -Wl,-rpath,"$reach"
	mkdir "$reach/closed" "$reach/open"
	chmod 777 "$reach/open"
	home=$PWD
	as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env -C)
	run "${as_nobody[@]}" "$reach/closed" "$reach/app"
	says 'cannot create the capture directory: permission denied; choose another directory'
	chmod u+s "$reach/app"
	GMON_OUT_PREFIX=$reach/open/out run "${as_nobody[@]}" "$reach/open" "$reach/app"
	says 'a set-user-id program is not profiled'
	[ -z "$(ls "$reach/open")" ] || fail "a set-user-id program wrote $(ls "$reach/open")"
	cd "$home"
fi

# A file system with too little space for a capture.
if [ "$(id -u)" = 0 ] && mkdir full && mount -t tmpfs -o size=32k none full 2>/dev/null; then
	(cd full && run ../../app && says 'no space left on the device; nothing is recorded until there is room') ||
		{ umount full; exit 1; }
	umount full
fi
