# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Sourced by the tests of `gprof-mt record`.
set -u
gprof_mt=$GM_BUILD/gprof-mt

fail()
{
	echo "FAIL: $*" >&2
	exit 1
}

skip()
{
	echo "$*"
	exit 77
}

# compile NAME [FLAG...]: the program of tests/record/programs, into the current directory.
compile()
{
	local name=$1
	shift
	"$CC" -O2 -g "$@" -o "$name" "$GM_TOP/tests/record/programs/$name.c" -pthread ||
		fail "cannot compile $name"
}

# helpers CAPTURE: "helper TID" for each task that opened files for the libraries.
helpers()
{
	local file
	for file in "$1"/*/helpers; do
		[ ! -e "$file" ] || od -An -v -tu4 -w24 "$file" | awk '{ print "helper", $1 }'
	done
}

# until_true SECONDS COMMAND...: polls, with a generous deadline.
until_true()
{
	local left=$(($1 * 50))
	shift
	until "$@"; do
		[ $((left -= 1)) -gt 0 ] || return 1
		sleep 0.02
	done
}

# fails STATUS WORDS ARG...: gprof-mt ARG... prints one line on stderr, which has these words, and nothing else.
fails()
{
	local want=$1 message=$2 got
	shift 2
	"$gprof_mt" "$@" >out 2>err
	got=$?
	[ $got = "$want" ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$message" err ||
		fail "$*: status $got, $(cat out err)"
}

# info KEY [DIR]: a member of info.json by its path, as "kernel source".
info()
{
	python3 - "${2:-gprof-mt.data}/info.json" $1 <<-'END'
	import json, sys
	value = json.load(open(sys.argv[1]))
	for key in sys.argv[2:]:
	    value = value[key]
	print(json.dumps(value) if isinstance(value, (list, dict, bool)) else value)
	END
}

# keep_busy: no CPU is idle from now on, by threads that give way to all others.  Some kernels drop
# what happens on an idle CPU: perf does not see who was woken there, nor why.
keep_busy()
{
	local pids=()
	for _ in $(seq "$(nproc)"); do
		chrt -i 0 sh -c 'while :; do :; done' &
		pids+=($!)
	done
	# shellcheck disable=SC2064 # these
	trap "kill ${pids[*]} 2>/dev/null" EXIT
}

# in_peace COMMAND...: what a busy machine may spoil (a ring overflows before its reader gets a CPU,
# other programs run in between) is done again, up to five times.
in_peace()
{
	local attempt
	for attempt in 1 2 3 4 5; do
		("$@") >attempt.log 2>&1 && return
		[ $? != 77 ] || { cat attempt.log; exit 77; }
		echo "attempt $attempt: $(tail -n 3 attempt.log)"
	done
	cat attempt.log >&2
	fail "five times"
}

# can_trace: are perf tracepoints permitted here?
can_trace()
{
	"$gprof_mt" doctor | grep -q '^ok *perf tracepoints'
}

# has_bpf: are BPF programs?
has_bpf()
{
	"$gprof_mt" doctor | grep -q '^ok *BPF programs'
}

# text DIR: the capture's kernel events as one line each, without anything on stderr.
text()
{
	babeltrace2 --clock-seconds "$1/kernel" 2>bt.err || fail "babeltrace2: $(cat bt.err)"
	[ ! -s bt.err ] || fail "babeltrace2 warns: $(cat bt.err)"
}

[ -e "$GM_BUILD/libgmon_mt.so" ] && [ -e "$GM_BUILD/libsync_trace.so" ] ||
	[ -n "${GPROF_MT_LIBDIR:-}" ] || skip "the runtime libraries are not built"
