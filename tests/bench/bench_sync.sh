#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Measures the cost of recording synchronization: each primitive bare, under libsync_trace, under
# LTTng-UST's pthread wrapper with a session that records, and under Valgrind's DRD.  Rounds alternate;
# the median of ROUNDS (default 5) counts.
#
# Rows: what, peer name, peer value, our value, unit, ratio, budget, verdict.
set -eu

rounds=${ROUNDS:-5}
library=$GM_BUILD/libsync_trace.so
wrapper=liblttng-ust-pthread-wrapper.so
dir=$(mktemp -d)
daemon=
finish()
{
	[ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
	rm -rf "$dir"
}
trap finish EXIT
cd "$dir"
unset GPROF_MT_CONFIG LD_PRELOAD
$CC -std=gnu17 -O2 -pthread -o bench "$GM_TOP/tests/bench/bench_sync.c"
$CC -std=gnu17 -O2 -DFILLER -shared -fPIC -o filler.so "$GM_TOP/tests/bench/wrapped.c"

median()
{
	sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# row WHAT PEER PEER_NS OUR_NS BUDGET_NS_OVER_PEER|-
row()
{
	awk -v what="$1" -v peer="$2" -v p="$3" -v o="$4" -v b="$5" 'BEGIN {
		printf "%s%s\t%s\t%.1f\t%.1f\tns\t%.2f\t%s\t%s\n", what,
			b == "-" ? "" : " (budget: difference to the peer)", peer, p, o, o / p, b,
			b == "-" ? b : o - p <= b ? "pass" : "miss" }'
}

# skip WHAT PEER REASON
skip()
{
	printf '%s\t%s: %s\t-\t-\tns\t-\t-\t-\n' "$1" "$2" "$3"
}

ours()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	GPROF_MT_CONFIG=$dir/all.conf LD_PRELOAD=$library ./bench "$@"
}

# The default, sync.mode = auto: records everything until that becomes too expensive.
ours_default()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	LD_PRELOAD=$library ./bench "$@"
}
printf '[sync]\nmode = all\n' >"$dir/all.conf"

ours_waits()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	GPROF_MT_CONFIG=$dir/waits.conf LD_PRELOAD=$library ./bench "$@"
}
printf '[sync]\nmode = contended\n' >"$dir/waits.conf"

# With the order of locks, against a complete recording.
ours_order()
{
	rm -rf gprof-mt.data gprof-mt.data.old
	GPROF_MT_CONFIG=$dir/order.conf LD_PRELOAD=$library ./bench "$@"
}
printf '[sync]\nmode = all\norder = on\n' >"$dir/order.conf"

lttng_ns()
{
	LD_PRELOAD=$wrapper ./bench "$@"
}

drd_ns()
{
	valgrind --tool=drd ./bench "$@" 2>/dev/null
}

# Starts a session daemon unless one runs for this user, and a session.
lttng_start()
{
	command -v lttng-sessiond >/dev/null || { echo "lttng-sessiond is not installed"; return 1; }
	ldconfig -p | grep -q "$wrapper" || { echo "$wrapper is not installed"; return 1; }
	export LTTNG_HOME=$dir/lttng
	mkdir -p "$LTTNG_HOME"
	if ! lttng --no-sessiond list >/dev/null 2>&1; then
		lttng-sessiond --no-kernel --daemonize --pidfile="$dir/daemon.pid" >/dev/null 2>&1 ||
			{ echo "lttng-sessiond does not start"; return 1; }
		daemon=$(cat "$dir/daemon.pid")
	fi
	{
		lttng create gprof-mt-bench --output="$dir/session" &&
			lttng enable-event --userspace 'lttng_ust_pthread:*' &&
			lttng start
	} >/dev/null 2>&1 || { echo "cannot create an LTTng session"; return 1; }
}

lttng_why=
lttng_start >why || lttng_why=$(cat why)
drd_why=
valgrind --version >/dev/null 2>&1 || drd_why="valgrind is not installed"

# bench WHAT NAME N BUDGET BUDGET_WAITS_ONLY; DRD is so slow that a fiftieth of N suffices
bench()
{
	local what=$1 name=$2 n=$3 budget=$4 our
	rm -f bare.ns our.ns default.ns waits.ns order.ns lttng.ns
	for _ in $(seq "$rounds"); do
		./bench "$name" "$n" >>bare.ns
		ours "$name" "$n" >>our.ns
		ours_default "$name" "$n" >>default.ns
		ours_waits "$name" "$n" >>waits.ns
		ours_order "$name" "$n" >>order.ns
		[ -n "$lttng_why" ] || lttng_ns "$name" "$n" >>lttng.ns
	done
	our=$(median our.ns)
	row "$what" "not recorded" "$(median bare.ns)" "$our" "$budget"
	row "$what, default" "not recorded" "$(median bare.ns)" "$(median default.ns)" -
	row "$what, waits only" "not recorded" "$(median bare.ns)" "$(median waits.ns)" "$5"
	row "$what, with the order of locks" "all recorded" "$our" "$(median order.ns)" -
	if [ -n "$lttng_why" ]; then
		skip "$what" "lttng-ust wrapper" "$lttng_why"
	else
		row "$what" "lttng-ust wrapper, recording" "$(median lttng.ns)" "$our" -
	fi
	if [ -n "$drd_why" ]; then
		skip "$what" "Valgrind DRD" "$drd_why"
	else
		row "$what" "Valgrind DRD" "$(drd_ns "$name" $((n / 50 + 1)))" "$our" -
	fi
}

bench "lock and unlock, uncontended" uncontended 1000000 12 3
bench "lock and unlock, two threads on one mutex" contended 500000 - -
rm -f clock.ns
for _ in $(seq "$rounds"); do ./bench contended_clock 500000 >>clock.ns; done
row "the same with two readings of the TSC" "not recorded" "$(median bare.ns)" "$(median clock.ns)" -
bench "lock and unlock, two threads, each on its own mutex" apart 1000000 - -
bench "lock and unlock, two threads, each on one of two adjacent mutexes" adjacent 1000000 - -
bench "lock and unlock, two threads, each time on one of 4,096 mutexes, and work" roaming 500000 - -
bench "two mutexes locked, and unlocked in the same order" crossed 500000 - -
bench "semaphore: post and wait" semaphore 500000 - -
bench "read-write lock: read lock and unlock" rdlock 500000 - -
bench "read-write lock: write lock and unlock" wrlock 500000 - -
bench "spin lock: lock and unlock" spin 500000 - -
bench "barrier: two threads meet" barrier 20000 - -
bench "signal raised" signal 200000 - -
bench "thread created and joined" threads 2000 - -

# Compares many mutexes with few.  In the bare program the processor fetches the next mutex while it takes one;
# instructions in between prevent that, whatever they do.  Therefore the slowdowns are compared with those of wrappers
# that execute as many instructions and access no memory.
bench "lock and unlock of one of 1,000 mutexes" few 1000000 - -
bench "lock and unlock of one of 1,000,000 mutexes" many 1000000 - -
for _ in $(seq $((2 * rounds))); do
	for name in few many; do
		LD_PRELOAD=$dir/filler.so ./bench $name 1000000 >>$name.filler
		ours $name 1000000 >>$name.ours
	done
done
awk -v f="$(median few.filler)" -v F="$(median many.filler)" -v o="$(median few.ours)" -v O="$(median many.ours)" '
	BEGIN {
		few = o / f; many = O / F
		printf "slowdown with 1,000,000 mutexes, of wrappers with as many instructions\twith 1,000\t" \
			"%.2f\t%.2f\tx\t%.2f\t1.10\t%s\n", few, many, many / few, many <= 1.1 * few ? "pass" : "miss"
	}'

# Takes the minimum of many alternating runs, because other load on the machine can only add time.
for _ in $(seq $((4 * rounds))); do
	./bench uncontended 1000000 >>least.bare
	./bench clock 1000000 >>least.clock
	ours uncontended 1000000 >>least.ours
done
least()
{
	sort -n "least.$1" | head -n 1
}
awk -v bare="$(least bare)" -v clock="$(least clock)" -v ours="$(least ours)" 'BEGIN {
	printf "lock and unlock, uncontended, over bare\tTSC read twice\t%.1f\t%.1f\tns\t%.2f\t1.40\t%s\n",
		clock, ours - bare, (ours - bare) / clock, ours - bare <= 1.4 * clock ? "pass" : "miss" }'

# Divides the bytes on disk by the known number of events.
ours uncontended 1000000 >/dev/null
bytes=$(du -cb gprof-mt.data/*/user/stream_* | tail -n 1 | cut -f 1)
awk -v bytes="$bytes" 'BEGIN { b = bytes / 2000000; printf "bytes of a lock or unlock on disk\t" \
	"budget\t16\t%.1f\tbytes\t%.2f\t16\t%s\n", b, b / 16, b < 16.5 ? "pass" : "miss" }'
[ -n "$lttng_why" ] || lttng destroy gprof-mt-bench >/dev/null 2>&1
