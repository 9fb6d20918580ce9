#!/bin/bash
# SPDX-License-Identifier: MIT
# Chrome's trace events: the states, waits and holds of the reports, and a flow from each release to the
# wait that it ended; speedscope reads them.  A capture that is too large for the format is refused.
. "$GM_TOP/tests/sync/common.sh"
gprof_mt=$GM_BUILD/gprof-mt
[ -e "$GM_BUILD/tests/export/installed.json" ] || { echo "npm could not get speedscope"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1

for source in auto none; do
	rm -rf gprof-mt.data
	"$gprof_mt" record -q --set kernel.source=$source -- "$GM_BUILD/examples/philosophers" 4 50 >out ||
		fail "philosophers, $source: exit status $?"
	"$gprof_mt" export --format chrome 2>err || fail "export: $(cat err)"
	python3 "$GM_TOP/tests/export/programs/story_check.py" "$gprof_mt" chrome gprof-mt.trace.json >flows ||
		fail "$source: the trace"
	python3 "$GM_TOP/tests/export/chrome_check.py" gprof-mt.trace.json || fail "$source: speedscope"
done

# More holds than it takes.
cat >many.c <<'END2'
#include <pthread.h>
int main(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

	for (int i = 0; i < 120000; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return 0;
}
END2
"$CC" -O1 -pthread -o many many.c || fail "cannot compile many"
rm -rf gprof-mt.data gprof-mt.trace.json
"$gprof_mt" record -q --set kernel.source=none -- ./many || fail "many: exit status $?"
! "$gprof_mt" export --format chrome 2>err || fail "it writes any number of events"
[ "$(wc -l <err)" -eq 1 ] && grep -q 'take --format perfetto' err || fail "it says: $(cat err)"
[ -z "$(find . -name 'gprof-mt.trace.json*')" ] || fail "it left a file"
"$gprof_mt" export --format perfetto 2>err || fail "perfetto: $(cat err)"
exit 0
