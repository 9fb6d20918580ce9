#!/bin/bash
# SPDX-License-Identifier: MIT
# Blocking calls in children of vfork() and fork(), in threads without the TSC, left by jumps and exits; functions of
# the program with the same names; libraries in between; C++'s atomics; unmodified programs.
. "$GM_TOP/tests/io/common.sh"
need python3

# way NAME: compares the output of ./odd NAME without and with the library; writes ./found.
way()
{
	(exec ./odd "$1") >without 2>err || [ "$1" = killed ] || fail "$1: the program fails without the library: $(cat err)"
	(traced exec ./odd "$1") >with 2>err || [ "$1" = killed ] || fail "$1: the program fails when traced: $(cat err)"
	[ ! -s err ] || fail "$1: unexpected message: $(cat err)"
	diff without with || fail "$1: the output changes when traced"
	io_events >found || fail "$1: $(tail -n 3 found)"
}

# has COUNT PATTERN
has()
{
	local n
	n=$(grep -Ec "$2" found)
	[ "$n" -eq "$1" ] || fail "expected $1 events '$2', got $n: $(cat found)"
}

build odd
way vfork
has 0 '^poll '
has 1 '^nanosleep '
way fork
has 1 '^nanosleep '
has 1 '^usleep '
has 1 '^waitpid '
has 2 '^poll .* 4 -1 ' # in both processes: EINTR
way tsc
has 1 '^clock_nanosleep '
way jump
has 0 '^pause '
has 1 '^nanosleep '
way exit
has 1 '^sigsuspend [0-9]+ 125 '
way killed
has 0 '^poll '

# A call has its site and its path.
way jump
read -r _ _ _ _ _ _ path site < <(grep '^nanosleep ' found)
[ "$path" -ge 16 ] || fail "the call has no path: $path"
[ "$site" -gt 0 ] || fail "the call has no site"

# The program's and its library's own functions have other parameters and results.
"$CC" -shared -fPIC -O1 -fno-builtin -o libnames.so "$programs/names.c" || fail "cannot compile names.c"
build odd -DNAMES -fno-builtin ./libnames.so "-Wl,-rpath,$PWD"
way names
same names "names: 206 11 2.5" "$(cat with)"

# A library that wraps read(), preloaded after ours.
"$CC" -shared -fPIC -O1 -o counts.so "$programs/counts.c" || fail "cannot compile counts.c"
printf x >one
LD_PRELOAD=./counts.so dd if=one bs=1 count=1 status=none >without 2>without.err || fail "the counting library fails"
rm -rf gprof-mt.data
GPROF_MT_CONFIG=every.conf LD_PRELOAD="$libsync ./counts.so" dd if=one bs=1 count=1 status=none >with 2>with.err || fail "the counting library fails after ours"
cmp without with && cmp without.err with.err || fail "the counting library counts differently after ours"
io_events >found
has 1 '^read '

if g++ -std=c++20 -O1 -pthread -o atomic_wait "$programs/atomic_wait.cc" 2>err; then
	traced ./atomic_wait >with || fail "atomic_wait fails when traced"
	io_events >found
	has 1 "^futex [0-9]+ [0-9]+ $(($(cat with))) "
fi

# Unmodified programs.
python3 "$programs/server.py" >without || fail "server.py fails"
traced python3 "$programs/server.py" >with 2>err || fail "server.py fails when traced: $(cat err)"
[ ! -s err ] || fail "server.py: unexpected message: $(cat err)"
diff without with || fail "the output of server.py changes when traced"
io_events >found
for name in clock_nanosleep recv accept4 read 'select|poll'; do
	grep -Eq "^($name) " found || fail "server.py: no event of $name: $(cut -d' ' -f1 found | sort | uniq -c)"
done
if command -v xz >/dev/null; then
	head -c 3000000 /dev/zero | tr '\0' 'x' >input
	xz -T2 -k -c input >without.xz
	traced xz -T2 -k -c input >with.xz || fail "xz fails when traced"
	cmp without.xz with.xz || fail "the output of xz changes when traced"
	traced sh -c 'cat input | xz -d -c with.xz | cmp - input' || fail "a pipeline fails when traced"
fi
