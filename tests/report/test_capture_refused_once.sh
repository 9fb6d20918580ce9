#!/bin/bash
# SPDX-License-Identifier: MIT
# A capture that cannot be created: both libraries notice it, but only one line is printed, with the right
# reason. The program's behavior does not change, whatever the limits and wherever stderr goes.
. "$GM_TOP/tests/gmon/common.sh"
sync=$GM_BUILD/libsync_trace.so
cat >app.c <<'END'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Forks once, so that a child has the same failure. */
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1 && fork() > 0)
		wait(NULL);
	puts("ran");
	return 7;
}
END
"$CC" -pg -O1 -o linked app.c "${link[@]}" || fail "cannot compile"
"$CC" -pg -O1 -o archive app.c "$GM_BUILD/libgmon_mt.a" || fail "cannot compile with the archive"
"$CC" -pg -O1 -o bare app.c || fail "cannot compile"

# runs SETUP COMMAND...: runs COMMAND after SETUP in its shell; writes stdout, stderr and status to out, err,
# status, through pipes, since file size limits also apply to the test's files.
runs()
{
	local setup=$1
	shift
	rm -rf gprof-mt.data gprof-mt.data.old capture gmon.out out err
	: >out
	{
		{
			{
				eval "$setup" && exec "$@"
			} 2>&1 >&3 3>&- | cat >err
			echo "${PIPESTATUS[0]}" >status
		} 3>&1 | cat >out
	}
}

# tells REGEX SETUP COMMAND...: the program runs, and the only message is one line that matches REGEX.
tells()
{
	local regex=$1
	shift
	runs "$@"
	same "$*: exit status" 7 "$(cat status)"
	same "$*: output" ran "$(sort -u out)"
	same "$*: lines on stderr" 1 "$(wc -l <err)"
	grep -q "^gprof-mt: .*$regex" err || fail "$*: $(cat err)"
}

limit='the limit on the size of files is too low (ulimit -f)'
for command in ./linked ./archive "env LD_PRELOAD=$libgmon:$sync ./bare" \
	"env LD_PRELOAD=$sync:$libgmon ./bare" "env LD_PRELOAD=$sync ./linked" \
	"env LD_PRELOAD=$sync ./archive"; do
	for blocks in 0 1 4 16; do
		tells "$limit" "ulimit -f $blocks" $command
	done
	tells "$limit" "ulimit -f 16" $command fork
	tells 'unknown group' "printf '[what]\nkey = 1\n' >bad.conf; export GPROF_MT_CONFIG=bad.conf" $command
	tells 'gprof-mt.data: is not a directory of this user' "echo precious >gprof-mt.data" $command
done

# Under record, which has already created the directory.
"$GM_BUILD/gprof-mt" record -q --profile applic-only -o capture ./bare >out 2>err
same "record: exit status" 7 $?
runs "ulimit -f 4" "$GM_BUILD/gprof-mt" record -q --profile applic-only -o capture ./bare
same "record, ulimit -f" "7 ran 1" "$(xargs <status) $(cat out) $(grep -cF 'runs unprofiled' err)"
same "record, ulimit -f: what record says" 1 "$(grep -cF "could not write into it: $limit" err)"

# stderr accepts no data: a file at its size limit, a pipe without a reader.
mkfifo fifo
exec 8<>fifo 9>fifo 8<&-
for command in "env LD_PRELOAD=$sync ./linked" "env LD_PRELOAD=$sync ./archive"; do
	runs 'ulimit -f 0; exec 2>full' $command
	same "stderr is a file at its limit: $command" "7 ran" "$(xargs <status) $(cat out)"
	rm -rf gprof-mt.data && echo precious >gprof-mt.data
	$command >out 2>&9
	same "stderr is a pipe without a reader: $command" "7 ran" "$? $(cat out)"
	rm gprof-mt.data
done
