#!/bin/bash
# SPDX-License-Identifier: MIT
# `gprof-mt replay` of captures: the model of a program with each kind of object has the steps that the program has
# performed, with and without scheduling events, and no thread of its replay waits for ever; captures that cannot be
# replayed are refused in one line.
. "$GM_TOP/tests/lib.sh"
need jq python3
build all_kinds

n=100
# recorded DIR OPTION...: records the program
recorded()
{
	local dir=$1
	shift
	rm -rf "$dir"
	"$gprof_mt" record -q -o "$dir" "$@" ./all_kinds $n || fail "record $*"
}

for source in none auto; do
	recorded d --set sync.mode=all --set kernel.source=$source
	rm -f model
	"$gprof_mt" replay --write model --cost 10 --cpus 1,2,3 d >out 2>err || fail "$source: $(cat err)"
	[ ! -s err ] || fail "$source: $(cat err)"
	! grep -q 'for ever' out || fail "$source: $(cat out)"
	python3 - $n <<'END' || fail "$source: see above"
import collections, sys
n = int(sys.argv[1])
kinds, ranks, threads, objects = collections.Counter(), [], [], []
for line in open("model"):
    words = line.split()
    if words[0] in ("lock", "sem", "barrier", "cond"):
        objects.append((words[0], line.split('"')[1], words[1]))
    elif words[0] == "thread":
        threads.append(words[1])
        last = 0
    elif words[0].isdigit():
        if words[1] != "exit":
            assert words[-1][0] == "@" and int(words[-1][1:]) > last, line
            last = int(words[-1][1:])
            ranks.append(last)
        operation = words[1].removeprefix("try")
        has_object = operation in ("lock", "spin", "rdlock", "unlock", "wait", "post", "barrier", "notify")
        name = objects[int(words[2])][1] if has_object else ""
        assert operation == words[1] or name == "mutex", line
        kinds[operation, name] += 1
        if words[1] == "notified":
            condition, count = words[2].split(":")
            assert objects[int(condition)][0] == "cond" and 1 <= int(count) <= 3 * n, line
assert sorted(ranks) == list(range(1, len(ranks) + 1)), "ranks"
assert threads == ["0", "created", "created", "created"], threads
assert kinds["create", ""] == 3 and kinds["exit", ""] == 4, kinds
# A try fails if the mutex is taken.
assert 3 * n <= kinds["lock", "mutex"] <= 6 * n and kinds["lock", "mutex"] == kinds["unlock", "mutex"], kinds
assert kinds["lock", "recursive"] == kinds["unlock", "recursive"] == 3 * n, kinds
assert kinds["lock", "rwlock"] == 3 * n // 4 and kinds["rdlock", "rwlock"] == 3 * n - 3 * n // 4, kinds
assert kinds["unlock", "rwlock"] == kinds["spin", "spin"] == kinds["unlock", "spin"] == 3 * n, kinds
assert kinds["wait", "items"] == kinds["post", "items"] == kinds["barrier", "barrier"] == 3 * n, kinds
# Each condition wait releases the mutex and takes it again, and lasts until one of the broadcasts; joins are awaited.
waits = kinds["lock", "queue"] - 3 * n
assert kinds["lock", "queue"] == kinds["unlock", "queue"] and waits > 0, kinds
assert sum(kinds[key] for key in kinds if key[0] == "notify") == 3 * n, kinds
assert kinds["notified", ""] == waits and kinds["await", ""] <= 3, (waits, kinds)
counts = {name: (kind, count) for kind, name, count in objects if kind in ("sem", "barrier")}
assert counts["barrier"] == ("barrier", "3") and counts["items"][0] == "sem", counts
assert int(counts["items"][1]) <= 2, counts
END
	# The same from the file.
	grep -qx 'recording 10' model || fail "$source: the cost of recording: $(grep recording model)"
	"$gprof_mt" replay --cost 10 --cpus 1,2,3 --format json d >from_capture || fail "$source: json"
	"$gprof_mt" replay --cpus 1,2,3 --format json model >from_model || fail "$source: json of the model"
	same "$source: the model's replays" "$(jq .replays from_capture)" "$(jq .replays from_model)"
	jq -e '.replays | length == 3 and all(.used_cpus > 0 and .used_cpus <= .cpus)' from_capture >/dev/null ||
		fail "$source: $(cat from_capture)"
done

# refused TEXT DIR [OPTION...]
refused()
{
	local text=$1
	shift
	! "$gprof_mt" replay "$@" >out 2>err || fail "accepted: $*"
	same "$*: number of lines" 1 "$(wc -l <err)"
	grep -qF "$text" err || fail "$*: expected $text, got $(cat err)"
}

refused "no lock is named 'nothing': see gprof-mt report locks" --what-if 'drop nothing' d
for change in 'drop mutex' 'spin mutex' 'split mutex by site' 'rwlock recursive readers=*' 'shrink * to 50 %' \
	'cpus 1'; do
	"$gprof_mt" replay --what-if "$change" --format json d >json 2>err || fail "$change: $(cat err)"
	jq -e '.replays[0].changed_ns > 0 and ([.path[].after_ns // 0] | add) > 0' json >/dev/null || fail "$change: $(cat json)"
done
# Threads that take turns may wait for ever if they are more: then, the figure is missing.
"$gprof_mt" replay --what-if 'threads 5' --format json d >json 2>err || fail "threads 5: $(cat err)"
jq -e '.replays[0].changed_ns > 0' json >/dev/null || grep -q 'for ever' json || fail "threads 5: $(cat json)"
# The queue's sections use its condition: there is one mutex for it.
refused "changes nothing: one lock is left, as its sections use a condition" --what-if 'split queue by site' d
refused "changes nothing: no sections of queue are readers, or they use a condition" --what-if 'rwlock queue readers=*' d

# The CPUs of the model are those that the program could use.
rm -rf one model
taskset -c 0 "$gprof_mt" record -q -o one --set sync.mode=all ./all_kinds 10 && "$gprof_mt" replay --write model one >out ||
	fail "on one CPU: $(cat out)"
grep -qx 'cpus 1' model || fail "on one CPU: $(grep cpus model)"

# The number of threads of OpenMP's barriers is not recorded: their waits are for what ended them.
cat >team.c <<'END'
int main(void)
{
	long sum = 0;

	for (int round = 0; round < 10; round++) {
#pragma omp parallel for reduction(+ : sum)
		for (long i = 0; i < 1000000; i++)
			sum += i ^ round;
	}
	return sum == 0;
}
END
if gcc -O1 -fopenmp -o team team.c 2>/dev/null; then
	rm -rf team.d model
	OMP_NUM_THREADS=2 "$gprof_mt" record -q -o team.d --set sync.mode=all ./team &&
		"$gprof_mt" replay --write model team.d >out || fail "OpenMP: $(cat out)"
	! grep '^barrier' model || fail "OpenMP: a barrier of an unknown number of threads"
	! grep 'for ever' out || fail "OpenMP: $(cat out)"
fi

# A part of the run takes as long as it does, and no thread of it waits for ever.
same "all of the time" "$(jq .replays from_model)" "$("$gprof_mt" replay --cost 10 --time 0~ --cpus 1,2,3 --format json d |
	jq .replays)"
! "$gprof_mt" replay --time ~1ns d >out 2>err || fail "--time before the first thread: $(cat out)"
grep -Eqx 'gprof-mt: d: no thread ran within --time: the first one began at [0-9.]+ [mun]?s' err ||
	fail "--time before the first thread: $(cat err)"
# The first whole millisecond in which a thread ran.
begin=$(sed 's/.* began at //' err | awk '{ ms = $1 * ($2 == "s" ? 1e3 : $2 == "ms" ? 1 : $2 == "us" ? 1e-3 : 1e-6); print int(ms) + 1 }')
for part in ~$((begin + 2))ms $((begin + 2))ms~$((begin + 4))ms $((begin + 1))ms~$((begin + 2))ms $((begin + 4))ms~; do
	# On a busy machine, all threads may be ready without a CPU for so long.
	"$gprof_mt" replay --cost 0 --time $part --check d >out 2>err ||
		grep -qx 'gprof-mt: d: no thread ran within --time' err || fail "--time $part: $(cat out err)"
done
rm -f model
"$gprof_mt" replay --write model --time ~$((begin + 10))ms d >out || fail "--time --write"
[ "$(grep '^run' model | cut -d' ' -f2)" -le $(((begin + 10) * 1000000)) ] || fail "--time ~$((begin + 10))ms: $(grep '^run' model)"
refused "model: a model has no times of the recording: --time needs a capture" --time 1~2 model
for part in 1000~2000 0~0; do
	! "$gprof_mt" replay --time $part d >out 2>err || fail "--time $part: $(cat out)"
	grep -Eqx 'gprof-mt: d: --time selects nothing: the recording lasts [0-9.]+ [mun]?s' err || fail "--time $part: $(cat err)"
done

# The cost of recording is measured on the machine of the capture only.
"$gprof_mt" replay d >out 2>err || fail "the cost of recording: $(cat err)"
tr -s '\n ' ' ' <out | grep -qE 'without the cost of recording, [0-9.]+ ns of each of [0-9]+ operations' || fail "$(cat out)"
host=$(jq -r .host.hostname d/info.json) other=$(printf "%${#host}s" | tr ' ' x)
cp -r d moved && sed -i "s/\"$host\"/\"$other\"/" moved/info.json || fail "info.json"
"$gprof_mt" replay moved >out 2>err || fail "of another machine: $(cat err)"
tr -s '\n ' ' ' <out | grep -qF "with the cost of recording: the capture is of $other, whose cost --cost gives" ||
	fail "of another machine: $(cat out)"
"$gprof_mt" replay --cost 0 moved | grep 'cost of recording' && fail "--cost 0"

recorded waits --set sync.mode=contended
refused "4 threads have only their waits recorded: record with --set sync.mode=all, or use --allow-gaps" waits
"$gprof_mt" replay --check --format json waits >json 2>err
same "--check of waits only: exit status" 1 $?
jq -e '[.check[] | select(.count == 4 and (.effect | test("sync.mode=all")))] | length == 1' json >/dev/null ||
	fail "--check of waits only: $(cat json)"
"$gprof_mt" replay --allow-gaps waits >out 2>err || fail "--allow-gaps: $(cat err)"
rm -rf two
"$gprof_mt" record -q -o two --set sync.mode=all sh -c './all_kinds 1; ./all_kinds 1' || fail "record two"
refused "processes were recorded, and one can be replayed" two
refused "no capture nowhere" nowhere
