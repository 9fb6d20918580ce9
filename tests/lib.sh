# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What test scripts share; sourced with `. "$GM_TOP/tests/lib.sh"`, by common.sh of a folder too.  A
# folder's common.sh has only what is that folder's subject.
set -u

# shellcheck disable=SC2034 # for the tests
gprof_mt=$GM_BUILD/gprof-mt libgmon=$GM_BUILD/libgmon_mt.so libsync=$GM_BUILD/libsync_trace.so

# programs: the programs beside this script.  build_flags: what build() gives to each compiler.
# link: what build_pg() links.
programs=${0%/*}/programs
build_flags=()
link=(-L"$GM_BUILD" -lgmon_mt "-Wl,-rpath,$GM_BUILD")

# fail_shows FILE...: sets the files whose end fail() prints.
fail_files=()
fail_shows()
{
	fail_files=("$@")
}

# fail WORD...: ends the test; prints why.
fail()
{
	local file
	echo "FAIL: $*" >&2
	for file in ${fail_files[@]+"${fail_files[@]}"}; do
		[ ! -s "$file" ] || { echo "--- $file"; tail -n 20 "$file"; } >&2
	done
	exit 1
}

# skip WORD...: ends the test as skipped; prints why.
skip()
{
	echo "$*"
	exit 77
}

# need TOOL...: skips the test if a command is missing; prints which.
need()
{
	local tool
	for tool; do
		command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
}

# same WHAT EXPECTED ACTUAL: fails if the two texts differ; prints both.
same()
{
	[ "$2" = "$3" ] || fail "$1: expected:
$2
got:
$3"
}

# until_true SECONDS COMMAND...: polls until COMMAND succeeds; returns 1 after the (generous) deadline.
until_true()
{
	local left=$(($1 * 50))
	shift
	until "$@"; do
		[ $((left -= 1)) -gt 0 ] || return 1
		sleep 0.02
	done
}

# retry COMMAND...: up to five times, for what a busy machine may spoil (a ring overflows before its
# reader gets a CPU, other programs run in between); prints the end of each failed attempt.
retry()
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

# build [FOLDER/]NAME [FLAG...]: compiles programs/NAME.c, NAME.cc or all of NAME/ (of tests/FOLDER) to ./NAME.
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

# build_pg [FOLDER/]NAME [FLAG...]: the same, with -pg and libgmon_mt (or what link_with() named).
build_pg()
{
	build "$1" -pg "${@:2}" ${link[@]+"${link[@]}"}
}

# link_with WORD...: sets what build_pg() links from here on.
link_with()
{
	link=("$@")
}

# fresh COMMAND...: runs it without an old profile, capture or log of a program (log.*) in the way.
fresh()
{
	rm -rf gmon.out gmon.*.[0-9]* gprof-mt.data gprof-mt.data.old log.*
	"$@"
}

# moved [CAPTURE]: gives children of fork() that did little folders of their own, as any reader of ours does.
moved()
{
	! compgen -G "${1:-gprof-mt.data}/*/children.*" >/dev/null ||
		"$gprof_mt" report -i "${1:-gprof-mt.data}" quality >/dev/null 2>&1
}

# info KEY [CAPTURE]: prints a member of info.json by its path, as "kernel source".
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

# kernel_events CAPTURE: prints its kernel events, one a line; fails if babeltrace2 warns.
kernel_events()
{
	babeltrace2 --clock-seconds "$1/kernel" 2>bt.err || fail "babeltrace2: $(cat bt.err)"
	[ ! -s bt.err ] || fail "babeltrace2 warns: $(cat bt.err)"
}

# can_trace: are perf tracepoints permitted here?
can_trace()
{
	"$gprof_mt" doctor | grep -q '^ok *perf tracepoints'
}

# has_bpf: are BPF programs permitted here?
has_bpf()
{
	"$gprof_mt" doctor | grep -q '^ok *BPF programs'
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
