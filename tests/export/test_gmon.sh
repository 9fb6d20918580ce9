#!/bin/bash
# SPDX-License-Identifier: MIT
# gprof reads the exported gmon files: the calls and CPU time of the reports, for all threads and for one; and
# for each thread and library the same file as in the capture.
. "$GM_TOP/tests/gmon/common.sh"

# reported [SELECTION...]: prints "FUNCTION CALLS" of the selected threads together, as the report counts them
reported()
{
	"$gprof_mt" report --format json "$@" flat | jq -r '.functions | map(select(.calls)) | group_by(.name)[] |
		"\(.[0].name) \(map(.calls) | add)"' | LC_ALL=C sort
}

# compare PROGRAM [SELECTION...]
compare()
{
	local program=$1
	shift
	"$gprof_mt" export --format gmon "$@" 2>err || fail "export $*: $(cat err)"
	reported "$@" >wanted
	[ -s wanted ] || fail "the report of $* has no calls"
	flat "$program" gmon.out.gprof-mt >got || fail "gprof: $*"
	diff wanted got >difference || fail "$*: < report, > gprof: $(cat difference)"
}

build_pg work
fresh "$gprof_mt" record -q --set kernel.source=none ./work 1000 2000 >out 2>err
compare work
compare work --tid "$("$gprof_mt" report --format json threads | jq '.threads[-1].tid')"

# A number of calls that would need a file of many gigabytes is damage.
python3 - gprof-mt.data/*/calls <<'END2' || fail "cannot change a count in the calls file"
import struct, sys
count, path = struct.pack("<Q", 2000), sys.argv[1] # of calls of middle
data = open(path, "rb").read()
assert count in data
open(path, "wb").write(data.replace(count, struct.pack("<Q", 1 << 62)))
END2
! "$gprof_mt" export --format gmon 2>err || fail "expected an error for too many records"
[ "$(wc -l <err)" -eq 1 ] && grep -q 'more calls than a file can have' err || fail "expected one line, got: $(cat err)"

# The samples.
"$CC" -std=gnu17 -D_GNU_SOURCE -O1 -g -pg -pthread -o ratio "$GM_TOP/tests/sample/programs/ratio.c" "${link[@]}" ||
	fail "cannot compile ratio"
fresh "$gprof_mt" record -q --set kernel.source=none --set sample.hz=100 ./ratio 100 2 >out || fail "ratio: $?"
"$gprof_mt" export --format gmon 2>err || fail "ratio: $(cat err)"
for function in a b; do
	wanted=$("$gprof_mt" report --format json flat |
		jq --arg f $function '[.functions[] | select(.name == $f) | .samples] | add // 0')
	got=$(gprof -b -p ratio gmon.out.gprof-mt | awk -v f=$function '$NF == f { printf "%d", $3 * 100 + 0.5 }')
	# gprof divides the samples of a bin by the functions that have a part in it.
	[ $((wanted - ${got:-0})) -ge -1 ] && [ $((wanted - ${got:-0})) -le 1 ] ||
		fail "$function: expected $wanted samples, or one more or less, got $got"
done

# Each thread and library: the same files as record wrote.
compile_pg -fPIC -shared -Wl,-soname,libtest.so.3 -o libtest.so.3 library.c
cp libtest.so.3 libtest.so
build_pg library_user -L. -ltest -Wl,-rpath,"$PWD"
fresh "$gprof_mt" record -q --set kernel.source=none ./library_user || fail "library_user: $?"
"$gprof_mt" export --format gmon --what threads 2>err || fail "threads: $(cat err)"
same_files()
{
	diff <(cd "$1" && find . -name 'gmon.*' -exec cksum {} + | sort -k 3) \
		<(cd "$2" && find . -name 'gmon.*' -exec cksum {} + | sort -k 3)
}
same_files gprof-mt.data gprof-mt.gmon >difference || fail "< capture, > export: $(cat difference)"
ls gprof-mt.gmon/*/gmon.merged.libtest.so.3 >found || fail "no file of the library"
"$gprof_mt" export --format gmon 2>err || fail "merged: $(cat err)"
grep -q 'left out: 70 calls of functions in libraries' err || fail "expected a note about omitted calls, got: $(cat err)"

# refused STATUS TEXT OPTION...: prints one line with the text
refused()
{
	local status=$1 text=$2 got=0
	shift 2
	"$gprof_mt" export --format gmon "$@" 2>err || got=$?
	[ $got -eq "$status" ] || fail "$*: exit status $got: $(cat err)"
	[ "$(wc -l <err)" -eq 1 ] && grep -qF -- "$text" err || fail "$*: expected one line with '$text', got: $(cat err)"
}
refused 1 'gprof-mt.gmon: File exists' --what threads
refused 2 '-o -: this format writes a directory' --what threads -o -
refused 1 'no thread has tid 1' --what threads -o none --tid 1
[ ! -e none ] || fail "an empty directory is left"

# Two processes.
cat >two.c <<'END2'
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) int leaf(int x) { return x + 1; }
int main(void)
{
	int x = leaf(1);

	if (fork() == 0)
		return leaf(x) == 0;
	wait(NULL);
	return 0;
}
END2
"$CC" -O1 -pg -o two two.c "${link[@]}" || fail "cannot compile two"
fresh "$gprof_mt" record -q --set kernel.source=none ./two || fail "two: $?"
refused 1 'a gmon file holds one process'
compare two --tid "$("$gprof_mt" report --format json threads | jq '.threads[0].tid')"
exit 0
