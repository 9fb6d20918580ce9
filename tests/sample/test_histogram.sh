#!/bin/bash
# SPDX-License-Identifier: MIT
# Histograms of gmon files as stock gprof reads them: functions across many blocks of code, bins that
# overflow, several files together, no samples.
. "$GM_TOP/tests/gmon/common.sh"
. "$GM_TOP/tests/sample/common.sh"

"$CC" -std=gnu17 -Wall -I"$GM_TOP/libgmon-mt/include" -o histogram "$programs/histogram.c" ||
	fail "cannot compile histogram"
cat >program.c <<'END'
volatile int x;
#define FOUR(a) a a a a
#define MANY(a) FOUR(FOUR(FOUR(FOUR(a))))
void large(void) { MANY(x++;) }
void small(void) { x += 2; }
int main(void) { large(); small(); return 0; }
END
"$CC" -O0 -no-pie -falign-functions=64 -o program program.c || fail "cannot compile program"
large=0x$(nm program | awk '$3 == "large" { print $1 }')
small=0x$(nm program | awk '$3 == "small" { print $1 }')
[ $((small - large)) -gt 2048 ] || fail "large() has less than 2 KiB of code"

./histogram "$large" 1 $((large + 1)) 2 $((large + 300)) 100 $((large + 304)) 100 $((large + 2000)) 7 \
	"$small" 200000 $((small + 1)) 34 >one
same "large" 2.10 "$(self program one large)"
same "small, in bins that overflow" 2000.34 "$(self program one small)"
./histogram $((large + 1000)) 50 "$small" 65535 $((small + 8)) 65536 >other
same "other: large" 0.50 "$(self program other large)"
same "other: small" 1310.71 "$(self program other small)"
gprof -b -p program one other one >sum 2>&1
same "together: large" 4.70 "$(awk '$NF == "large" { print $3 }' sum)"
same "together: small" 5311.39 "$(awk '$NF == "small" { print $3 }' sum)"

./histogram >none
gprof -b -p program none >out 2>&1
grep -q 'no time accumulated' out || fail "a histogram without samples: $(cat out)"
gprof -b -p program none one none >sum 2>&1
same "with empty ones" 2.10 "$(awk '$NF == "large" { print $3 }' sum)"
exit 0
