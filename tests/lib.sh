# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Functions that test scripts share. A script, or the common.sh of a folder, sources this file with `.
# "$GM_TOP/tests/lib.sh"`. The common.sh of a folder contains only functions for that folder's subject.
set -u

# shellcheck source=tests/captures/keep.sh
. "$GM_TOP/tests/captures/keep.sh"

# shellcheck disable=SC2034 # for the tests
gprof_mt=$GM_BUILD/gprof-mt libgmon=$GM_BUILD/libgmon_mt.so libsync=$GM_BUILD/libsync_trace.so

# programs: directory of the programs beside the script. build_flags: flags that build() passes to every
# compiler. link: libraries that build_pg() links.
programs=${0%/*}/programs
build_flags=()
link=(-L"$GM_BUILD" -lgmon_mt "-Wl,-rpath,$GM_BUILD")

# fail_shows FILE...: sets the files whose last lines fail() prints.
fail_files=()
fail_shows()
{
	fail_files=("$@")
}

# fail WORD...: prints the message and the files of fail_shows(), and ends the test as failed.
fail()
{
	local file
	echo "FAIL: $*" >&2
	for file in ${fail_files[@]+"${fail_files[@]}"}; do
		[ ! -s "$file" ] || { echo "--- $file"; tail -n 20 "$file"; } >&2
	done
	exit 1
}

# skip WORD...: prints the reason and ends the test as skipped.
skip()
{
	echo "$*"
	exit 77
}

# need_tsc: sets the array on_tsc to a command that runs others, under valgrind, as on a machine whose clock source is
# tsc. Valgrind hides the vDSO, without which the library trusts the TSC under no other source. Skips the test if that
# is not permitted.
need_tsc()
{
	local source=/sys/devices/system/clocksource/clocksource0/current_clocksource
	on_tsc=()
	[ "$(cat $source 2>/dev/null)" != tsc ] || return 0
	echo tsc >tsc.source
	# shellcheck disable=SC2016 # $0, $1 and $@ are those of the inner shell
	on_tsc=(unshare -m sh -c 'mount --bind "$0" "$1" && shift && exec "$@"' "$PWD/tsc.source" "$source")
	"${on_tsc[@]}" true 2>/dev/null ||
		skip "the clock source is not tsc, and no other file may be mounted in its place"
}

# need TOOL...: skips the test if a command is not installed; prints its name.
need()
{
	local tool
	for tool; do
		command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
}

# with_sanitizers: succeeds in a build with SAN=. Such a build takes about ten times the time, keeps freed memory and
# makes system calls of its own; figures of these are not compared there, and inputs are smaller.
with_sanitizers()
{
	[[ ${GM_BUILD##*/} == build-* ]]
}

# same NAME EXPECTED ACTUAL: fails and prints both texts if they differ.
same()
{
	[ "$2" = "$3" ] || fail "$1: expected:
$2
got:
$3"
}

# until_true SECONDS COMMAND...: polls until COMMAND succeeds; returns 1 when the (generous) time limit has
# passed.
until_true()
{
	local left=$(($1 * 50))
	shift
	until "$@"; do
		[ $((left -= 1)) -gt 0 ] || return 1
		sleep 0.02
	done
}

# peak FILE ARG...: runs gprof-mt ARG... with its output in FILE; prints its peak memory in bytes. Needs python3.
peak()
{
	python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[2:], stdout=open(sys.argv[1], "w"), check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)' "$1" "$gprof_mt" "${@:2}" || fail "${*:2}"
}

# retry COMMAND...: runs COMMAND up to five times until it succeeds, since other load on the machine can make
# it fail (a ring overflows before its reader gets a CPU, other programs run in between). Prints the last
# lines of each failed attempt.
retry()
{
	local attempt
	for attempt in 1 2 3 4 5; do
		("$@") >attempt.log 2>&1 && return
		[ $? != 77 ] || { cat attempt.log; exit 77; }
		echo "attempt $attempt: $(tail -n 3 attempt.log)"
	done
	cat attempt.log >&2
	fail "$*: failed in five attempts"
}

# build [FOLDER/]NAME [FLAG...]: compiles programs/NAME.c, NAME.cc or all files of NAME/ (in tests/FOLDER, if
# given) to ./NAME.
build()
{
	# shellcheck disable=SC2206 # CC may have flags
	local name=${1##*/} source=$programs/$1 compile=($CC -std=gnu17)
	[[ $1 != */* ]] || source=$GM_TOP/tests/${1%/*}/programs/$name
	shift
	if [ -d "$source" ]; then
		set -- "$source"/*.c "$@"
	elif [ -e "$source.cc" ]; then
		compile=(g++ -std=c++17)
		set -- "$source.cc" "$@"
	else
		set -- "$source.c" "$@"
	fi
	"${compile[@]}" -O1 -g -pthread -I "$GM_TOP/tests" ${build_flags[@]+"${build_flags[@]}"} -o "$name" "$@" ||
		fail "cannot compile $name"
}

# build_pg [FOLDER/]NAME [FLAG...]: as build(), with -pg, libgmon_mt or the libraries that link_with() set.
build_pg()
{
	build "$1" -pg "${@:2}" ${link[@]+"${link[@]}"}
}

# link_with WORD...: sets what build_pg() links from now on.
link_with()
{
	link=("$@")
}

# fresh COMMAND...: runs COMMAND after deleting old profiles, captures and logs of the program (log.*).
fresh()
{
	keep_captures .
	rm -rf gmon.out gmon.*.[0-9]* gprof-mt.data gprof-mt.data.old log.*
	"$@"
}

# moved [CAPTURE]: moves the data of short-lived children of fork() into folders of their own, as every reader
# of gprof-mt does.
moved()
{
	! compgen -G "${1:-gprof-mt.data}/*/children.*" >/dev/null ||
		"$gprof_mt" report -i "${1:-gprof-mt.data}" quality >/dev/null 2>&1
}

# info KEY [CAPTURE]: prints a member of info.json; KEY is its path, for example "kernel source".
info()
{
	# shellcheck disable=SC2086 # the words of the path
	python3 - "${2:-gprof-mt.data}/info.json" $1 <<-'END'
	import json, sys
	value = json.load(open(sys.argv[1]))
	for key in sys.argv[2:]:
	    value = value[key]
	print(json.dumps(value) if isinstance(value, (list, dict, bool)) else value)
	END
}

# kernel_events CAPTURE: prints the kernel events, one per line; fails if babeltrace2 prints a warning.
kernel_events()
{
	babeltrace2 --clock-seconds "$1/kernel" 2>bt.err || fail "babeltrace2: $(cat bt.err)"
	[ ! -s bt.err ] || fail "babeltrace2 warns: $(cat bt.err)"
}

# can_trace: succeeds if perf tracepoints are permitted here.
can_trace()
{
	"$gprof_mt" doctor | grep -q '^ok *perf tracepoints'
}

# has_bpf: succeeds if BPF programs are permitted here.
has_bpf()
{
	"$gprof_mt" doctor | grep -q '^ok *BPF programs'
}

# can_switches: succeeds if the context-switch records of an ordinary user are permitted here.
can_switches()
{
	! "$gprof_mt" doctor | grep -q '^no *context-switch records'
}

# can_be_other: succeeds for a root that may become another user; there is none in many user namespaces.
can_be_other()
{
	[ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null
}

# fails STATUS TEXT ARG...: gprof-mt ARG... exits with STATUS and prints only one line, on stderr, which
# contains TEXT.
fails()
{
	local want=$1 message=$2 got
	shift 2
	"$gprof_mt" "$@" >out 2>err
	got=$?
	[ $got = "$want" ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$message" err ||
		fail "$*: expected status $want and one line with '$message'; got status $got, $(cat out err)"
}
