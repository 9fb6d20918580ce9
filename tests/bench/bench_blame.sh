#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the figures of paper 002: a program that creates and destroys a lock for each record, with 340,000
# records at a time and 30,000 acquisitions per second and thread.
#
# The program's CPU time (user + sys) under `record` and under its peers, which tell less:
#   counting wrappers (as mutrace)   which locks were waited for, how often; no time, no holder
#   lttng-ust's pthread wrapper      each lock and unlock; no wait, no holder
#   valgrind --tool=drd              which locks were held long; the threads run one at a time, so for a part only
#   perf lock contention -b          the time in futex calls, by call stack; no holder
# Runs alternate; the minimum of ROUNDS (default 5) counts.
#
# The reader: `report blame` on captures with every operation, of LOCKS (default 4,000,000) locks and of a quarter as
# many; LOCKS=65000000 is the paper's run, with 1.6 GB of capture.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-5}
locks=${LOCKS:-4000000}
alive=340000
rate=30000
seconds=5
cost_budget=1.05
memory_budget=500
read_budget=250
dir=$(mktemp -d)
daemon=
finish()
{
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
	rm -rf "$dir"
}
trap finish EXIT
cd "$dir"
. "$GM_TOP/tests/bench/timed.sh"
. "$GM_TOP/tests/bench/lttng_session.sh"
unset GPROF_MT_CONFIG LD_PRELOAD
export LTTNG_HOME=$dir/lttng
mkdir "$LTTNG_HOME"
$CC -std=gnu17 -O2 -g -pthread -o records "$GM_TOP/tests/bench/blame/records.c"
$CC -std=gnu17 -O2 -shared -fPIC -o count.so "$GM_TOP/tests/bench/blame/count.c"
record=("$GM_BUILD/gprof-mt" record -q -o capture)

least()
{
	sort -g "$1" | head -n 1
}

# --- the program ----------------------------------------------------------------------------------
steps=$(./records $rate)
program=(./records 2 "$alive" $((2 * rate * seconds)) "$steps")
what="locks of $((2 * rate * seconds / 1000)) thousand records, $rate a second and thread"

# cost PEER FILE BUDGET|-
cost()
{
	awk -v what="$what" -v peer="$1" -v p="$(least "$2")" -v o="$(least ours)" -v b="$3" 'BEGIN {
		printf "%s\t%s\t%.3f\t%.3f\ts\t%.3f\t%s\t%s\n", what, peer, p, o, o / p, b,
			b == "-" ? b : o / p <= b ? "pass" : "miss" }'
}

missing()
{
	printf '%s\t%s\t-\t%.3f\ts\t-\t-\t-\n' "$what" "$1" "$(least ours)"
}

why=
has_session=yes
begin_session gprof-mt-blame 'lttng_ust_pthread:*' -- --output="$dir/session" || has_session=
for _ in $(seq "$rounds"); do
	timed bare "${program[@]}"
	timed ours "${record[@]}" -- "${program[@]}"
	timed counted env LD_PRELOAD="$dir/count.so" "${program[@]}"
	[ -z "$has_session" ] ||
		timed wrapper env LD_PRELOAD=liblttng-ust-pthread-wrapper.so "${program[@]}"
	rm -rf capture
done
[ -z "$has_session" ] || lttng destroy --no-wait gprof-mt-blame >/dev/null 2>&1
cost "not profiled" bare $cost_budget
cost "counting wrappers (as mutrace)" counted -
if [ -n "$has_session" ]; then cost "lttng-ust wrapper, recording" wrapper -; else missing "$why"; fi
# valgrind takes minutes for the whole run: a fiftieth of it, and bare beside it.
part=(./records 2 "$alive" $((2 * rate * seconds / 50)) "$steps")
if command -v valgrind >/dev/null; then
	timed drd valgrind -q --tool=drd --exclusive-threshold=1000 "${part[@]}"
	timed few "${part[@]}"
	awk -v what="$what" -v p="$(least drd)" -v f="$(least few)" -v bare="$(least bare)" -v o="$(least ours)" 'BEGIN {
		printf "%s\tvalgrind --tool=drd, by a fiftieth\t%.3f\t%.3f\ts\t%.3f\t-\t-\n", what, p / f * bare, o, o / (p / f * bare) }'
else
	missing "valgrind is not installed"
fi
if perf lock contention -b -- true >out 2>&1; then
	timed perf perf lock contention -b -- "${program[@]}"
	cost "perf lock contention -b, once" perf -
else
	missing "perf lock contention -b does not work here"
fi

# --- the reader -----------------------------------------------------------------------------------
# read_capture LOCKS: prints the number of operations, the CPU time in s and the peak memory in MiB.
read_capture()
{
	"${record[@]}" --set sync.mode=all --set sync.paths=1ms -- ./records 2 "$alive" "$1" 0 >out
	python3 "$GM_TOP/tests/bench/read_cost.py" "$GM_BUILD/gprof-mt" capture report blame
	rm -rf capture
}

few=$(read_capture $((locks / 4)))
all=$(read_capture "$locks")
read -r few_operations few_s few_mib <<<"$few"
read -r operations s mib <<<"$all"
awk -v n="$operations" -v s="$s" -v fn="$few_operations" -v fs="$few_s" -v b=$read_budget 'BEGIN {
	printf "report blame, %.1f M operations\tthe same, %.1f M operations\t%.0f\t%.0f\tns/op\t%.3f\t%d\t%s\n", n / 1e6, fn / 1e6,
		fs / fn * 1e9, s / n * 1e9, (s / n) / (fs / fn), b, s / n * 1e9 <= b ? "pass" : "miss" }'
awk -v m="$mib" -v f="$few_mib" -v n="$locks" -v b=$memory_budget 'BEGIN {
	printf "peak memory of it, %.1f M locks\ta quarter of the locks\t%d\t%d\tMiB\t%.3f\t%d\t%s\n", n / 1e6, f, m, m / f, b,
		m <= b ? "pass" : "miss" }'
