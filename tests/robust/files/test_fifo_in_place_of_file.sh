#!/bin/bash
# SPDX-License-Identifier: MIT
# The libraries and record never block on a FIFO, a socket or a terminal in place of one of their files,
# nor on a full stderr.
. "$GM_TOP/tests/lib.sh"

cat >app.c <<'END'
#include <stdio.h>
void work(void);
__attribute__((noinline)) void work(void) { __asm__ volatile(""); }
int main(void) { work(); puts("ran"); fflush(stdout); return 7; }
END
"$CC" -pg -g -O1 -o app app.c -L"$GM_BUILD" -Wl,-rpath,"$GM_BUILD" -lgmon_mt || fail "cannot compile"

n=0
# runs COMMAND...: prints "ran" and ends with status 7 within a generous deadline
runs()
{
	local out
	out=$(timeout -k 1 60 "$@" 2>err)
	[ $? = 7 ] && [ "$out" = ran ] || fail "$*: expected 'ran' and exit status 7, found '$out', $(cat err)"
	n=$((n + 1))
}
refused()
{
	timeout -k 1 60 "$gprof_mt" record "$@" >out 2>err
	[ $? -le 2 ] || fail "record $*: $(cat err)"
	[ ! -s out ] && [ "$(wc -l <err)" = 1 ] || fail "record $*: expected one line on stderr, found: $(cat out err)"
	n=$((n + 1))
}

kinds="fifo socket"
# make_odd KIND PATH: makes a FIFO or socket
make_odd()
{
	rm -rf "$2"
	case $1 in
	fifo) mkfifo "$2" ;;
	socket) python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$2" ;;
	esac
}

for kind in $kinds; do
	# The configuration, by its usual name and by the environment.
	make_odd "$kind" gprof-mt.conf
	runs ./app
	grep -q 'gprof-mt.conf: cannot open the configuration' err || fail "$kind: $(cat err)"
	refused ./app
	runs env LD_PRELOAD="$libsync" ./app
	rm gprof-mt.conf
	make_odd "$kind" odd.conf
	runs env GPROF_MT_CONFIG="$PWD/odd.conf" ./app
	refused --config odd.conf ./app
	# In place of the file `session`, which makes a directory a capture.
	mkdir -p gprof-mt.data
	make_odd "$kind" gprof-mt.data/session
	runs ./app
	grep -q 'gprof-mt.data: exists and is no' err || fail "$kind as session: $(cat err)"
	refused ./app
	rm -r gprof-mt.data
	# In place of the capture's directory, and of the one that an old capture is renamed to.
	make_odd "$kind" gprof-mt.data
	runs ./app
	refused ./app
	rm -f gprof-mt.data
	runs ./app
	make_odd "$kind" gprof-mt.data.old
	runs ./app
	refused ./app
	rm -rf gprof-mt.data gprof-mt.data.old
done

# gmon.out is a FIFO with a reader: it is neither removed nor written to.
rm -rf gprof-mt.data gmon.out && mkfifo gmon.out
exec {reader}<>gmon.out
runs ./app
[ -p gmon.out ] || fail "the FIFO gmon.out was removed"
grep -q 'gmon.out: cannot write it: is not a regular file' err || fail "FIFO with a reader: $(cat err)"
exec {reader}<&-
rm -rf gprof-mt.data gmon.out

# A terminal and /dev/zero as the configuration; /dev/null is an empty configuration.
runs env GPROF_MT_CONFIG=/dev/tty ./app
runs env GPROF_MT_CONFIG=/dev/zero ./app
runs env GPROF_MT_CONFIG=/dev/null ./app
[ -d gprof-mt.data ] && [ ! -s err ] || fail "/dev/null as configuration: $(cat err)"
rm -rf gprof-mt.data

# stderr is a full pipe or socket without a reader.  Descriptor 2 keeps its flags.
echo '[what]' >bad.conf
echo 'key = 1' >>bad.conf
cat >full.py <<'END'
import fcntl, os, socket, subprocess, sys
if sys.argv[1] == "pipe":
    _, end = os.pipe()
else:
    a, b = socket.socketpair(socket.AF_UNIX,
        socket.SOCK_STREAM if sys.argv[1] == "stream" else socket.SOCK_DGRAM)
    end = b.fileno()
os.set_blocking(end, False)
try:
    while True:
        os.write(end, b"x" * 512)
except BlockingIOError:
    pass
os.set_blocking(end, True)
flags = fcntl.fcntl(end, fcntl.F_GETFL)
child = subprocess.Popen(sys.argv[2:], stderr=end, stdout=subprocess.PIPE)
try:
    out, _ = child.communicate(timeout=60)
except subprocess.TimeoutExpired:
    child.kill()
    sys.exit("blocked")
if out != b"ran\n" or child.returncode != 7:
    sys.exit("expected 'ran' and status 7, found %r and %d" % (out, child.returncode))
if fcntl.fcntl(end, fcntl.F_GETFL) != flags:
    sys.exit("flags of descriptor 2 changed")
END
for end in pipe stream datagram; do
	for library in "" "$libsync"; do
		GPROF_MT_CONFIG=$PWD/bad.conf LD_PRELOAD=$library timeout -k 1 100 env -u LD_PRELOAD python3 full.py $end \
			env LD_PRELOAD="$library" ./app >out 2>&1 || fail "full $end, '$library': $(cat out)"
		n=$((n + 1))
	done
done
# The reader of a pipe gets the complete line.
GPROF_MT_CONFIG=$PWD/bad.conf ./app 2>&1 >out | cat >err
[ "$(wc -l <err)" = 1 ] && grep -q "unknown group 'what'" err || fail "through a pipe: $(cat err)"
echo "$n runs, none blocked"
exit 0
