#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the CPU time of a run in `gprof-mt sweep` without recording: the start, the measurement, its line in the log.
# The difference between campaigns of many and of few runs leaves the recorded runs and the output out. The peer only
# starts the same program and waits for it.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

few=${RUNS:-100} many=$((${RUNS:-100} * 6))
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
# shellcheck source=tests/bench/timed.sh
. "$GM_TOP/tests/bench/timed.sh"

cat >spawn.c <<'END'
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
extern char **environ;
/* spawn N COMMAND... */
int main(int argc, char **argv)
{
	int n = argc < 3 ? 0 : atoi(argv[1]);
	for (int i = 0; i < n; i++) {
		struct rusage usage;
		pid_t pid;
		int status;
		if (posix_spawnp(&pid, argv[2], NULL, NULL, argv + 2, environ) ||
		    wait4(pid, &status, 0, &usage) != pid || status)
			return 1;
	}
	return n == 0;
}
END
${CC:-gcc} -O2 -D_GNU_SOURCE -o spawn spawn.c

# sweep N: prints the ms of CPU time that a campaign of twice N runs takes
sweep()
{
	rm -f sweep.s
	rm -rf data
	timed sweep.s "$GM_BUILD/gprof-mt" sweep -q --runs "$1" --threads 1 --workload 1,2 -o data -- true '{w}'
	awk '{ print 1000 * $1 }' sweep.s
}

# spawn: prints the same for a run that is only started and waited for
spawn()
{
	rm -f spawn.s
	timed spawn.s ./spawn "$many" true
	awk -v n="$many" '{ print 1000 * $1 / n }' spawn.s
}

for _ in 1 2 3 4 5; do
	few_ms=$(sweep "$few") many_ms=$(sweep "$many")
	echo "$(spawn) $(awk -v a="$few_ms" -v b="$many_ms" -v n=$((2 * (many - few))) 'BEGIN { print (b - a) / n }')"
done >times.txt
# The minimum of each: other load only adds time.
awk 'NR == 1 || $1 < peer { peer = $1 } NR == 1 || $2 < own { own = $2 }
	END { printf "CPU time of a run in a sweep, without recording\tposix_spawn, wait4\t%.3f\t%.3f\tms\t%.3f\t%.3f\t%s\n",
		peer, own, own / peer, peer + 1, own <= peer + 1 ? "pass" : "miss" }' times.txt
