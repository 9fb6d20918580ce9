#!/bin/bash
# SPDX-License-Identifier: MIT
# Samples in gprof-mt's own code have one row, the last, and no share in the percentages; the summary names them.
# The libraries are preloaded, linked and linked statically.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"
sampling 500

cat >calls.c <<-'END'
	#include <time.h>
	static volatile long sum;
	__attribute__((noinline)) static void called(void) { sum++; }
	int main(void)
	{
		struct timespec now = {0};
		while (now.tv_sec < 1) {
			for (int i = 0; i < 1000000; i++)
				called();
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
		}
	}
END

# own NAME COMMAND...: profiles COMMAND and checks its report
own()
{
	local what=$1
	shift
	fresh "$@" || fail "$what: exit status $?"
	"$gprof_mt" report flat >text || fail "$what: report flat"
	"$gprof_mt" report --format json flat summary >json || fail "$what: report"
	jq -r '.functions[] | select(.samples > 0) | .name' json | sort >sampled
	grep -qxE 'called|main' sampled || { cat sampled; fail "$what: no sample in the program"; }
	# Functions of the libraries are not named, unless libc has one of that name.
	nm "$GM_BUILD/libgmon_mt.so" "$GM_BUILD/libsync_trace.so" | awk '$2 ~ /^[tT]$/ { print $3 }' |
		grep -E '^(gm_|st_|_*mcount|__fentry__|__cyg)' | sort -u | comm -12 - sampled >named
	[ ! -s named ] || { cat text; fail "$what: $(cat named)"; }
	jq -e '[.functions[].name] | index("gprof-mt'\''s own") == length - 1' json >/dev/null ||
		{ cat text; fail "$what: the last row is another"; }
	jq -e '(.functions[-1].samples) as $own | (.functions[-1].sample_period_ns) as $period | ([.functions[].samples] | add) as $all | .summary[0] |
		.own_samples == $own and .samples == $all and $own > 0 and
		.own_ns == $own * $period' json >/dev/null || { cat json; fail "$what: the summary has another sum"; }
	# Each row is rounded to 0.01.
	awk '/^ *[0-9.]+ +[0-9.]+ +[0-9.]+ / { sum += $1; n++ } /gprof-mt.s own$/ { own = NF }
		END { exit !(n > 0 && own == 3 && sum > 99.9 - n * 0.005 && sum < 100.1 + n * 0.005) }' text ||
		{ cat text; fail "$what: percentages"; }
	"$gprof_mt" report summary | grep -Eq '^  profiler +[0-9]+ of [0-9]+ samples' || fail "$what: summary in text"
	echo "$what: $(grep "own$" text)"
}

compile=("$CC" -std=gnu17 -D_GNU_SOURCE -O1 -g -pg calls.c)
"${compile[@]}" -o plain || fail "cannot compile"
own preloaded preloaded ./plain
"${compile[@]}" -o linked "$GM_BUILD/libgmon_mt.so" -Wl,-rpath,"$GM_BUILD" || fail "cannot link"
own linked ./linked
for flags in "-static" "-static -s" "-Wl,--gc-sections"; do
	# shellcheck disable=SC2086 # several flags
	"${compile[@]}" -o whole $flags "$GM_BUILD/libgmon_mt.a" || fail "cannot link $flags"
	if [[ $flags = *-s ]]; then
		fresh ./whole || fail "$flags: exit status $?"
		"$gprof_mt" report --format json flat | jq -e '.functions[-1] | .name == "gprof-mt'\''s own" and
			.samples > 0' >/dev/null || fail "$flags"
	else
		own "$flags" ./whole
	fi
done
exit 0
