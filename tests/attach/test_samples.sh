#!/bin/bash
# SPDX-License-Identifier: MIT
# Samples of a process that already runs: their number is that of the kernel's account of CPU time, in the program, in
# the kernel and in an object that is loaded during the recording; call paths are whole; babeltrace2 reads the streams.
# From an exec on there are none, which is said; sample.hz=0 takes none, sample.stacks=off takes no call paths.
. "$GM_TOP/tests/attach/common.sh"
need python3
need babeltrace2
build plugin -shared -fPIC

# start_sampled: starts it, with the pipe `input`; sets `known`.
start_sampled()
{
	rm -f input
	mkfifo input || fail mkfifo
	./sampled <input >known.out &
	known=$!
	exec 3>input
	until_true 60 has_threads 4 || fail "sampled does not start"
}

has_threads()
{
	[ "$(wc -l <known.out)" -ge "$1" ]
}

end_sampled()
{
	exec 3>&-
	kill "$known" 2>/dev/null
	wait "$known" 2>/dev/null || true
}

# account FILE: the CPU time of each thread, as lines "TID NAME NS".
account()
{
	local tid name
	while read -r tid name; do
		echo "$tid $name $(cut -d' ' -f1 "/proc/$known/task/$tid/schedstat")"
	done <known.out >"$1"
}

# has_run FILE NAME MS: since that account.
has_run()
{
	account now
	[ $(($(awk -v n="$2" '$2 == n { print $3 }' now) - $(awk -v n="$2" '$2 == n { print $3 }' "$1" | grep . || echo 0))) -ge \
		$(($3 * 1000000)) ]
}

compare()
{
	start_sampled
	account outer.begin
	attach
	account inner.begin
	until_true 60 has_run inner.begin user 300 || fail "user does not run"
	until_true 60 has_run inner.begin kernel 300 || fail "kernel does not run"
	echo "$PWD/plugin" >&3
	until_true 60 has_threads 5 || fail "plugin does not start"
	until_true 60 has_run inner.begin plugin 300 || fail "plugin does not run"
	account inner.end
	end_attach
	account outer.end
	end_sampled
	! grep -q lost: err || { cat err; return 1; }
	"$gprof_mt" report --format json calltree flat threads quality >report.json || fail report
	python3 "$programs/samples.py" report.json "$(nproc --all)"
}

build sampled -ldl
! "$gprof_mt" doctor | grep '^no *context-switch records' || skip "context-switch records are not permitted"
trap 'kill "$known" 2>/dev/null' EXIT
retry compare
same "samples of babeltrace2" "$(babeltrace2 gprof-mt.data/*/samples | grep -c ' sample: ')" \
	"$(jq '[.functions[].samples] | add' report.json)"
[ "$(jq '[.quality[] | select(.what | test("sample|missing|damage"))] | length' report.json)" = 0 ] ||
	fail "$(jq .quality report.json)"

same "names" "" "$(jq -r '.functions[] | select(.samples > 0) | .name | select(test("no name"))' report.json)"
[ "$(jq '[.calltree[] | select(.path | contains("ticks > ")) | .samples] | max' report.json)" -gt 0 ] || fail "no samples in the vDSO"

# The program becomes another one.
cat >after.c <<'E_C'
int main(void)
{
	for (;;)
		__asm__ volatile("");
}
E_C
cat >execs.c <<'E_C'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	printf("%d main\n", getpid());
	fflush(stdout);
	getchar();
	execl("./after", "./after", (char *)0);
	return 1;
}
E_C
"$CC" -o after after.c && "$CC" -o execs execs.c || fail "no program"
rm -f input
mkfifo input
./execs <input >known.out &
known=$!
exec 3>input
until_true 60 has_threads 1 || fail "execs does not start"
account begin
attach
echo >&3
until_true 60 has_run begin main 300 || fail "after does not run"
end_attach
end_sampled
grep -q "lost: $known: samples after an exec: [1-9]" err || fail "exec: $(cat err)"
"$gprof_mt" report --format json flat quality >report.json || fail report
same "samples after an exec" 0 "$(jq '[.functions[].samples] | add // 0' report.json)"

# Settings.
start_sampled
attach --set sample.hz=0
account begin
until_true 60 has_run begin user 50 || fail "user does not run"
end_attach
[ ! -e "gprof-mt.data/$known/samples" ] || fail "samples with sample.hz=0"
! grep 'no samples' err || fail "a note about samples that nobody asked for"
attach --set sample.stacks=off
account begin
until_true 60 has_run begin user 100 || fail "user does not run"
end_attach
"$gprof_mt" report --format json flat calltree >report.json || fail report
[ "$(jq '[.functions[] | select(.name == "inner") | .samples] | add' report.json)" -ge 3 ] || fail "$(jq .functions report.json)"
same "levels without stacks" 1 "$(jq '[.calltree[] | select(.samples > 0) | .level] | max' report.json)"
end_sampled
exit 0
