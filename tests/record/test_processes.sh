#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that forks and execs often: record, info.json and the report have as many processes and threads as
# the program and strace count.
. "$GM_TOP/tests/lib.sh"
cat >many.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *work(void *arg)
{
	return arg;
}

/* Makes a child. By `kind` it executes nothing, true, or this program with the argument `left`. */
static void make(char *self, char kind, char *left)
{
	if (fork() == 0) {
		if (kind == 't')
			execl("/bin/true", "true", (char *)NULL);
		if (kind == 's')
			execl(self, self, left, (char *)NULL);
		_exit(kind != 'n');
	}
}

int main(int argc, char **argv)
{
	int left = argc > 1 ? atoi(argv[1]) : -1, status;
	pthread_t thread;
	char text[16];

	if (left > 0) { /* ... and continues in the same process */
		snprintf(text, sizeof(text), "%d", left - 1);
		execl(argv[0], argv[0], text, (char *)NULL);
		return 1;
	}
	if (left == 0) {
		if (pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL))
			return 1;
		return 0;
	}
	for (const char *kind = "nnnttttss"; *kind; kind++)
		make(argv[0], *kind, "2");
	while (wait(&status) > 0)
		if (status)
			return 1;
	execl(argv[0], argv[0], "1", (char *)NULL);
	return 1;
}
END
"$CC" -pg -O1 -g -o many many.c -pthread || fail "cannot compile"
# The program has nine children, and a thread at its own end and at the ends of the last two children. It
# executes itself three times, `true` four times, and the last two children execute three times each.
processes=10 threads=13 execs=13
if command -v strace >/dev/null && strace -f -o trace -e trace=clone,clone3,fork,vfork,execve ./many >/dev/null 2>&1; then
	made=$(grep -cE ' (clone|clone3|v?fork)\(.*= [0-9]+$|(clone|clone3|v?fork) resumed.*= [0-9]+$' trace)
	of_threads=$(grep -E 'clone' trace | grep -c CLONE_THREAD)
	[ $((1 + made)) = $threads ] && [ $((1 + made - of_threads)) = $processes ] &&
		[ "$(grep -cE 'execve.*= 0$' trace)" = $execs ] ||
		fail "strace: $((1 + made)) threads, $((1 + made - of_threads)) processes: $(cat trace)"
fi

# has DIR PROCESSES THREADS
has()
{
	local dir=$1 images
	shift
	grep -q "^gprof-mt: $dir: $1 processes, $2 threads;" "$dir.err" || fail "record: expected $*, got: $(cat "$dir.err")"
	[ "$(info processes "$dir") $(info threads "$dir")" = "$*" ] || fail "info.json of $dir: $(info processes "$dir") $(info threads "$dir")"
	"$gprof_mt" report -i "$dir" --format json summary threads >report.json || fail "report of $dir"
	[ "$(jq -r '.summary[0] | "\(.processes) \(.threads)"' report.json)" = "$*" ] ||
		fail "report of $dir: $(jq -c '.summary[0]' report.json)"
	# Each image has its own rows.
	images=$(jq '[.threads[] | [.pid, .image]] | unique | length' report.json)
	[ "$images" = "$(jq '.summary[0].images' report.json)" ] || fail "$images images: $(jq -c '.summary[0]' report.json)"
	"$gprof_mt" report -i "$dir" summary >text || fail "report of $dir"
	grep -q "^  threads  *$2 of $1 processes, in $images images\$" text || fail "$dir: $(cat text)"
}

for source in bpf perf switches; do
	{ [ $source = bpf ] && ! has_bpf; } || { [ $source = perf ] && ! can_trace; } && continue
	[ $source != switches ] || can_switches || continue
	"$gprof_mt" record -o $source --set kernel.source=$source ./many 2>$source.err || fail "record: $(cat $source.err)"
	has $source $processes $threads
	[ "$(info 'kernel processes' $source) $(info 'kernel threads' $source)" = "$processes $threads" ] ||
		fail "the kernel's counts: $(info kernel $source)"
done
# Without kernel events, a child that calls nothing and loads no library is unknown.
"$gprof_mt" record -o none --set kernel.source=none ./many 2>none.err || fail "record: $(cat none.err)"
known=$(find none -mindepth 1 -maxdepth 1 -name '[0-9]*' | sed 's/.*\///; s/\..*//' | sort -u | wc -l)
[ "$known" -ge 7 ] && [ "$known" -le $processes ] || fail "expected 7 to $processes known processes, got $known: $(ls none)"
has none "$known" $((threads - processes + known))
exit 0
