#!/bin/bash
# SPDX-License-Identifier: MIT
# After `record`, stock gprof reads a file of each thread's calls, identical to the one that the program
# itself writes, also for programs that were killed before they could write it.
. "$GM_TOP/tests/gmon/common.sh"
[ -x "$gprof_mt" ] || skip "gprof-mt is not built"
link_with

# recorded STATUS COMMAND...: records without kernel events; checks exit status and output.
recorded()
{
	local status=$1
	shift
	fresh "$gprof_mt" record -q --set kernel.source=none "$@" >out 2>err
	same "$*: exit status" "$status" $?
	same "$*: stderr" "" "$(cat err)"
	grep -q '^gmon = record$' gprof-mt.data/config || fail "$*: the program writes the files"
}

# agree NAME INDEX PROGRAM [LIBRARY]: the thread's files and the report have the same calls.
agree()
{
	local what=$1 index=$2 program=$3 object=${4:-} dir name
	dir=$(folder) || fail "$what"
	name=$(echo "$dir"/gmon."$index".*)
	name=${name%% *}
	"$gprof_mt" report --format json flat 2>report.err |
		python3 "$programs/flat_of_thread.py" "$index" >wanted
	same "$what: report" "" "$(cat report.err)"
	[ "$(grep -c . wanted)" -gt 0 ] || fail "$what: the report has no calls of thread $index"
	same "$what: thread $index" "$(cat wanted)" "$({
		flat "$program" "$name"
		[ -z "$object" ] || flat "$object" "$name.$object"
	} | LC_ALL=C sort)"
	[ "$(stat -c %a "$name")" = 600 ] || fail "$what: $name has mode $(stat -c %a "$name")"
}

# Maps a gmon file of a library, by the end of its name, to the library.
declare -A libraries=([libtest.so.3]=libtest.so.3 [lib.so]=one/lib.so [lib.so~2]=other/lib.so)

# listings PROGRAM: prints gprof's output for each file, in an order that does not depend on addresses.
listings()
{
	local file base suffix object
	for file in "$(folder)"/gmon.*; do
		base=${file##*/}
		suffix=$(sed -E 's/^gmon\.([0-9]+\.[0-9]+|merged)\.?//' <<<"$base")
		object=$1
		[ -z "$suffix" ] || object=${libraries[$suffix]}
		gprof -b "$object" "$file" | sed -E 's/\[[0-9]+\]//g; s/ +/ /g' | LC_ALL=C sort |
			sed -E "s/^/$(sed -E 's/^(gmon\.[0-9]+)\.[0-9]+/\1/' <<<"$base"): /"
	done
}

# like_program NAME PROGRAM COMMAND...: after recorded(); the program alone writes the same files.
like_program()
{
	local what=$1 program=$2
	shift 2
	listings "$program" >by_record
	fresh preloaded "$@" >out 2>err
	listings "$program" >by_program
	grep -q '^gmon\.0: ' by_program || fail "$what: the program wrote no files"
	diff by_program by_record >difference ||
		fail "$what: < by the program, > by record: $(cat difference)"
}

for flags in "" "-no-pie" "-mfentry"; do
	# shellcheck disable=SC2086 # empty or one word
	build_pg work $flags
	recorded 7 ./work 1000 2000
	for index in 0 1 2; do
		agree "work $flags" $index work
	done
	same "work $flags: arc" 4000 "$(arc work "$(folder)"/gmon.2.* middle leaf)"
	same "work $flags: main's caller" 1 "$(arc work "$(folder)"/gmon.0.* _start main)"
	like_program "work $flags" work ./work 1000 2000
done

compile_pg -fPIC -shared -Wl,-soname,libtest.so.3 -o libtest.so.3 library.c
cp libtest.so.3 libtest.so
build_pg library_user -L. -ltest -Wl,-rpath,"$PWD"
recorded 0 ./library_user
agree "library" 0 library_user libtest.so.3
same "library: merged" "library_from_program 10
library_inner 40
library_outer 20" "$(flat libtest.so.3 "$(folder)"/gmon.merged.libtest.so.3)"
like_program "library" library_user ./library_user

# Two libraries with the same name; then the first is replaced before record reads it.
mkdir one other
compile_pg -fPIC -shared -o one/lib.so library.c
compile_pg -fPIC -shared -Dlibrary_outer=other_outer -Dlibrary_inner=other_inner \
	-Dlibrary_from_program=other_from_program -o other/lib.so library.c
cat >two.c <<'END'
#include <stdlib.h>
int library_outer(int x);
int other_outer(int x);
int main(int argc, char **argv)
{
	int x = library_outer(1) + other_outer(2) + other_outer(3);

	return argc > 1 && system(argv[1]) != 0 ? 99 : x == 0;
}
END
"$CC" -O1 -pg -o two two.c "$PWD/one/lib.so" "$PWD/other/lib.so" || fail "cannot compile two"
recorded 0 ./two
same "two libraries" "library_inner 2
library_outer 1
other_inner 4
other_outer 2" "$({
	flat one/lib.so gprof-mt.data/*/gmon.merged.lib.so
	flat other/lib.so gprof-mt.data/*/gmon.merged.lib.so~2
} | LC_ALL=C sort)"
like_program "two libraries" two ./two
cp one/lib.so one.so
fresh "$gprof_mt" record -q --set kernel.source=none ./two 'rm one/lib.so; cp other/lib.so one' \
	>out 2>err
same "replaced: exit status" 0 $?
same "replaced: stderr" "gprof-mt: lost: $PWD/one/lib.so: gmon files (build-id differs): 2" "$(cat err)"
dir=$(dirname gprof-mt.data/*/gmon.merged.lib.so~2)
cp one.so one/lib.so
fresh "$gprof_mt" record -q --set kernel.source=none ./two 'rm one/lib.so' >out 2>err
same "removed: stderr" "gprof-mt: lost: $PWD/one/lib.so: gmon files (no such file): 2" "$(cat err)"
dir=$(dirname gprof-mt.data/*/gmon.merged.lib.so~2)
[ -z "$(find "$dir" -name 'gmon.*lib.so')" ] || fail "files of a library that did not run"
same "replaced: the other library" "other_inner 4
other_outer 2" "$(flat other/lib.so "$dir"/gmon.0.*.lib.so~2)"

# Programs that are killed or end before they write files.
build_pg thread_ends
for how in killed _exit; do
	fresh "$gprof_mt" record -q --set kernel.source=none ./thread_ends $how >out 2>err
	status=$?
	case $how in
	killed) same "$how: exit status" $((128 + $(kill -l KILL))) $status ;;
	*) same "$how: exit status" 5 $status ;;
	esac
	[ ! -e gmon.out ] || fail "$how: the program wrote gmon.out"
	for index in 0 1 2; do
		agree "$how" $index thread_ends
	done
	same "$how: the running thread" "leaf 10" "$(flat thread_ends "$(folder)"/gmon.2.* | grep '^leaf ')"
done

# A process that outlives the program: its calls until then, and a message.
cat >outlives.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline, noipa)) void called(void)
{
}
int main(void)
{
	char go;
	int ready[2];

	if (pipe(ready))
		return 1;
	if (fork() == 0) {
		called();
		called();
		printf("%d\n", getpid());
		fflush(stdout);
		/* Closing the pipe ends the parent; the child waits until the test opens this FIFO. */
		close(ready[0]);
		close(ready[1]);
		return open("gate", O_RDONLY) < 0;
	}
	close(ready[1]);
	return read(ready[0], &go, 1) != 0;
}
END
"$CC" -O1 -pg -o outlives outlives.c || fail "cannot compile outlives"
mkfifo gate
fresh "$gprof_mt" record -q --set kernel.source=none ./outlives >out 2>err
same "outlives: exit status" 0 $?
child=$(cat out)
same "outlives: stderr" "gprof-mt: lost: $child: later calls not in its gmon files: the process still runs: 1" \
	"$(cat err)"
same "outlives: calls" "called 2" "$(flat outlives gprof-mt.data/"$child"/gmon.0."$child")"
: >gate # opening is enough: the reader may end before a byte is written

# Many threads: the first 200 have files of their own, on request each of them has; no other file is left.
cat >many.c <<'END'
#include <pthread.h>
static void *run(void *arg)
{
	return arg;
}
int main(void)
{
	for (int i = 0; i < 300; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL))
			return 1;
	}
	return 0;
}
END
"$CC" -O1 -pg -pthread -o many many.c || fail "cannot compile many"
recorded 0 ./many
dir=$(folder)
same "many: files" 200 "$(find "$dir" -name 'gmon.*' | wc -l)"
same "many: calls" "run 199" "$(flat many "$dir"/gmon.* | grep '^run ')"
same "many: gmon.out" "run 300" "$(flat many gmon.out | grep '^run ')"
[ -z "$(find gprof-mt.data -name '*unfinished*')" ] || fail "many: an unfinished file"
"$gprof_mt" export --format gmon --what threads -o all || fail "many: export"
same "many: exported files" 301 "$(find all -name 'gmon.*' | wc -l)"
same "many: exported calls" "run 300" "$(flat many all/*/gmon.* | grep '^run ')"
"$gprof_mt" record -o noted --set kernel.source=none ./many >out 2>err || fail "many: record"
grep -q '101 threads have no gmon files of their own (calls.gmon_threads=200)' err ||
	fail "many: expected a note on 101 threads, found $(cat err)"
recorded 0 --set calls.gmon_threads=1000 ./many
dir=$(folder)
same "many, on request: files" 301 "$(find "$dir" -name 'gmon.*' | wc -l)"
same "many, on request: calls" "run 300" "$(flat many "$dir"/gmon.* | grep '^run ')"

# The program itself writes the same files.
for threads in '' 1000; do
	printf '[calls]\ngmon_threads = %s\n' ${threads:-200} >gprof-mt.conf
	fresh preloaded ./many || fail "many, without record: exit status $?"
	rm gprof-mt.conf
	same "many, without record: files" $((threads ? 301 : 200)) "$(find "$(folder)" -name 'gmon.*' | wc -l)"
	same "many, without record: gmon.out" "run 300" "$(flat many gmon.out | grep '^run ')"
done

# With calls.mode = off nothing is written; an existing file is not changed.
recorded 7 --set calls.mode=off ./work 10 20
[ -z "$(find gprof-mt.data -name 'gmon.*')" ] || fail "calls.mode = off: gmon files"
cat >in_the_way.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "gprof-mt.data/%d/gmon.0.%d", getpid(), getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	return fd < 0 || write(fd, "mine\n", 5) != 5;
}
END
"$CC" -pg -o in_the_way in_the_way.c || fail "cannot compile in_the_way"
recorded 0 ./in_the_way
same "a file that is there" mine "$(cat gprof-mt.data/*/gmon.0.*)"

# A full disk is reported in one line and changes nothing else.
[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "no private mounts: the checks with a full disk are skipped"; exit 0; }
cat >full.sh <<'END'
mount -t tmpfs -o size=1m none disk || skip "cannot mount a tmpfs"
"$@" >out 2>err
status=$?
find disk -name 'gmon.*' >left
cp disk/data/info.json .
exit $status
END
mkdir disk
unshare -m sh full.sh "$gprof_mt" record -q --set kernel.source=none -o disk/data \
	sh -c './many; status=$?; cat /dev/zero >disk/fill 2>/dev/null; exit $status'
status=$?
[ $status != 77 ] || { echo "no tmpfs: the checks with a full disk are skipped"; exit 0; }
same "full disk: exit status" 0 $status
same "full disk: stderr" "gprof-mt: lost: disk/data: gmon files from N/gmon.0.N on (No space left on \
device); make room, or choose another directory (-o): 200" \
	"$(sed 's,[0-9]*/gmon\.0\.[0-9]*,N/gmon.0.N,' err)"
same "full disk: files left" "" "$(cat left)"
grep -q 'gmon files from' info.json || fail "full disk: info.json does not mention it"
exit 0
