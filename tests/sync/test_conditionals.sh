#!/bin/bash
# SPDX-License-Identifier: MIT
# The logical clock: code built with -fsanitize-coverage=trace-pc counts its conditionals. The ranking by them, and the
# numbers, are the same for a program that is slowed down in each function, whose ranking by time is another one. The
# hook changes nothing that a program does. Other programs' captures have no counts.
. "$GM_TOP/tests/lib.sh"
need python3
sources=$GM_TOP/tests/sync/programs/conditionals
link=(-L"$GM_BUILD" -lsync_trace "-Wl,-rpath,$GM_BUILD" -pthread)
common=(-O1 -g -fno-inline -D_GNU_SOURCE -I"$GM_TOP/tests")

# make NAME COMPILER [HANDSHAKE_OPTION...] -- OPTION...: the program, its sections built with the options
make_program()
{
	local name=$1 compiler=$2 handshake=()
	shift 2
	while [ "$1" != -- ]; do
		handshake+=("$1")
		shift
	done
	shift
	"$compiler" "${common[@]}" "${handshake[@]}" -c -o handshake.o "$sources/handshake.c" || fail "cannot compile"
	"$compiler" "${common[@]}" -fsanitize-coverage=trace-pc "$@" -c -o sections.o "$sources/sections.c" ||
		fail "cannot compile"
	"$compiler" -o "$name" handshake.o sections.o "$@" "${link[@]}" || fail "cannot link"
}

record()
{
	"$gprof_mt" record -q -o "$1.d" --set sync.mode=all --set kernel.source=none "./$1" || fail "record $1"
	for clock in conditionals wall; do
		"$gprof_mt" report -i "$1.d" --format json --clock $clock bottlenecks >"$1.$clock" || fail "report $1"
	done
}

make_program plain "$CC" --
make_program slow "$CC" -DDELAY=20000 -- -finstrument-functions
make_program profiled "$CC" -- -pg -L"$GM_BUILD" -lgmon_mt -Wl,-rpath,"$GM_BUILD"
programs=(plain slow profiled)
if command -v clang >/dev/null && echo 'int main(void) { return 0; }' | clang -x c - -fsanitize-coverage=trace-pc -o x "${link[@]}" 2>err; then
	make_program by_clang clang --
	programs+=(by_clang)
fi
for program in "${programs[@]}"; do
	record "$program"
done
python3 - "${programs[@]}" <<'END' || fail "see above: $(cat plain.conditionals slow.conditionals)"
import json, sys

def rows(program, clock, key):
    found = json.load(open(f"{program}.{clock}"))["bottlenecks"]
    return [(row["entry"].split(" ")[0], row[key]) for row in found if row["entry"].startswith("in_")]

for program in sys.argv[1:]:
    counted = rows(program, "conditionals", "apwt_conditionals")
    print(program, counted, rows(program, "wall", "apwt_ns"))
    assert [name for name, n in counted] == ["in_first", "in_second"], counted
    # 20 times a loop of 20,000, and 1,000 calls with a condition; compilers have a few blocks more or less in each turn
    first, second = (n / 20 for name, n in counted)
    assert 19000 < first < 45000 and 1900 < second < 6500, (first, second)
plain, slow = (dict(rows(program, "conditionals", "apwt_conditionals")) for program in ("plain", "slow"))
assert all(abs(plain[name] - slow[name]) <= 0.02 * plain[name] for name in plain), (plain, slow)
slow_ns = dict(rows("slow", "wall", "apwt_ns"))
assert slow_ns["in_second"] > slow_ns["in_first"], slow_ns
END

# Several runs.
"$gprof_mt" record -q -o again --set sync.mode=all --set kernel.source=none ./plain || fail "record"
"$gprof_mt" bottlenecks --clock conditionals --format json plain.d again >runs || fail "bottlenecks"
python3 - <<'END' || fail "$(cat runs)"
import json
runs = json.load(open("runs"))
rows = sorted(runs["bottlenecks"] + runs["inconclusive"], key=lambda row: -row["mean_conditionals"])
assert [row["entry"].split(" ")[0] for row in rows] == ["in_first", "in_second"], rows
END

# Babeltrace reads the counts; they only grow.
"$GM_TOP/tests/babeltrace" --clock-seconds --no-delta plain.d/[0-9]*/user >events 2>err || fail "babeltrace2: $(cat err)"
python3 - <<'END' || fail "see above"
import re
last = {}
for line in open("events"):
    found = re.search(r"conditionals: .*tid = (\d+).*count = (\d+)", line)
    if found:
        assert int(found[2]) > last.get(found[1], 0), line
        last[found[1]] = int(found[2])
assert max(last.values()) > 400000, last
END

# What a program does is the same, and each of its processes is recorded.
"$CC" "${common[@]}" -o bare "$sources/hooks.c" -pthread || fail "cannot compile"
"$CC" "${common[@]}" -fsanitize-coverage=trace-pc -o hooks "$sources/hooks.c" "${link[@]}" || fail "cannot compile"
"$CC" "${common[@]}" -fPIC -shared -o bare.so "$sources/library.c" || fail "cannot compile"
"$CC" "${common[@]}" -fsanitize-coverage=trace-pc -fPIC -shared -o hooks.so "$sources/library.c" || fail "cannot compile"
./bare ./bare.so >expected
[ $? = 3 ] || fail "bare: $(cat expected)"
for mode in all contended auto; do
	for program in hooks:hooks.so bare:hooks.so; do
		rm -rf d
		"$gprof_mt" record -q -o d --set sync.mode=$mode ./"${program%:*}" ./"${program#*:}" >out 2>err
		[ $? = 3 ] || fail "$mode $program: $(cat out err)"
		same "$mode $program" "$(cat expected)" "$(cat out)"
		"$gprof_mt" report -i d quality >quality || fail "$mode $program: report: $(cat quality)"
		grep -q 'nothing lost, nothing contradictory' quality || fail "$mode $program: $(cat quality)"
		"$GM_TOP/tests/babeltrace" d/[0-9]*/user >events 2>err || fail "babeltrace2: $(cat err)"
		[ $mode = contended ] || grep -q 'conditionals:' events || fail "$mode $program: no counts"
	done
done

# The hook of another library is called as often, and from the same places.
"$CC" "${common[@]}" -fPIC -shared -o libcovers.so "$sources/covers.c" || fail "cannot compile"
"$CC" "${common[@]}" -fsanitize-coverage=trace-pc -o covered "$sources/covered.c" -L. -lcovers -Wl,-rpath,. -pthread ||
	fail "cannot compile"
expected=$(./covered) || fail "bare: $expected"
[[ $expected =~ ^[1-9][0-9]{3,}' calls, places 0x' ]] || fail "expected calls and places, found $expected"
rm -rf d
got=$("$gprof_mt" record -q -o d --set sync.mode=all ./covered 2>err) || fail "covered: $(cat err)"
same "the hook of another library" "$expected" "$got"
"$GM_TOP/tests/babeltrace" d/[0-9]*/user >events 2>err || fail "babeltrace2: $(cat err)"
grep -q 'conditionals:' events || fail "covered: no counts"

# Without the hook there are no counts, and one line says so.
rm -rf d e
"$gprof_mt" record -q -o d --set sync.mode=all ./bare ./bare.so >out 2>err
"$gprof_mt" record -q -o e --set sync.mode=all ./bare ./bare.so >out 2>err
"$GM_TOP/tests/babeltrace" d/[0-9]*/user >events 2>err || fail "babeltrace2: $(cat err)"
! grep -q 'conditionals:' events || fail "expected no counts: $(grep conditionals: events)"
"$gprof_mt" report -i d --clock conditionals bottlenecks >out || fail "report"
grep -q 'no conditionals were counted: .*use --clock running' out || fail "$(cat out)"
"$gprof_mt" bottlenecks --clock conditionals d e >out 2>err
[ $? = 1 ] && grep -q 'd: no conditionals were counted: .*use --clock running' err || fail "$(cat out err)"

# The hook is an addition, and a test for another hook: six instructions up to the return.
objdump -d --no-show-raw-insn "$GM_BUILD/libsync_trace.so" >code || skip "no objdump"
n=$(sed -n '/<__sanitizer_cov_trace_pc>:/,/ret/p' code | grep -c '^ ')
[ "$n" -le 6 ] || fail "the hook has $n instructions: $(sed -n '/<__sanitizer_cov_trace_pc>:/,/ret/p' code)"
