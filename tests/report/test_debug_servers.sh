#!/bin/bash
# SPDX-License-Identifier: MIT
# A server of DEBUGINFOD_URLS that accepts requests and sends nothing is given up, and not asked for the next object;
# report says so, and still has the names that are here. Meanwhile a terminal shows what is asked for.
. "$GM_TOP/tests/lib.sh"
need python3 objcopy strip
ldconfig -p 2>/dev/null | grep -q 'libdebuginfod\.so\.1' || skip "libdebuginfod is not installed"

for name in one two here; do
	cat >$name.c <<-END
	#include <pthread.h>
	static pthread_mutex_t mutex_$name = PTHREAD_MUTEX_INITIALIZER;
	__attribute__((visibility("hidden"), noinline)) int inner_$name(void)
	{
		return pthread_mutex_lock(&mutex_$name) + pthread_mutex_unlock(&mutex_$name);
	}
	int $name(void) { return inner_$name() * 2; }
	END
	"$CC" -g -O1 -fno-inline -shared -fPIC -Wl,--build-id $name.c -o lib$name.so &&
		objcopy --only-keep-debug lib$name.so lib$name.debug &&
		strip lib$name.so && objcopy --add-gnu-debuglink=lib$name.debug lib$name.so || fail "cannot build lib$name.so"
done
rm libone.debug libtwo.debug
echo 'int one(void), two(void), here(void); int main(void) { return one() + two() + here(); }' >app.c
"$CC" -g app.c -o app -L. -lone -ltwo -lhere -Wl,-rpath,"$PWD" || fail "cannot link"
"$gprof_mt" record -q --profile applic-only --set sync.mode=all ./app || fail "record: status $?"

cat >silent.py <<'END'
"""Reads requests, notes what they ask for, and never answers."""
import os, socket
server = socket.create_server(("127.0.0.1", 0))
with open("port.new", "w") as port:
    port.write(str(server.getsockname()[1]))
os.rename("port.new", "port")
kept = []
while True:
    kept.append(server.accept()[0])
    request = kept[-1].recv(4096).split() # empty if the client gives up before it has sent one
    with open("asked", "a") as asked:
        print(*[path.decode() for path in request[1:2]], file=asked)
END
python3 silent.py &
server=$!
until_true 60 test -e port || fail "no server"

port=$(cat port)
export DEBUGINFOD_URLS="http://127.0.0.1:$port/" DEBUGINFOD_TIMEOUT=1 DEBUGINFOD_CACHE_PATH=$PWD/fetched
export GPROF_MT_PROGRESS_MS=1 TERM=xterm XDG_CACHE_HOME=$PWD/cache
python3 "$GM_TOP/tests/report/programs/on_terminal.py" "$gprof_mt" report locks quality >terminal || fail "report: $(cat -v terminal)"
grep -qE "asking a server for the debug file of lib(one|two)\.so" terminal || fail "not shown: $(cat -v terminal)"
[ "$(grep . asked | sort -u | wc -l)" = 1 ] || fail "asked for: $(cat asked)"
grep -q "names may be missing: a server of debug files sent nothing.*$DEBUGINFOD_URLS" out || fail "not said: $(cat out)"
grep -q 'mutex_here' out || fail "no names from the debug file that is here: $(cat out)"
grep -q 'libone.so+0x' out || fail "expected an address in libone.so: $(cat out)"
! grep -rqE 'lib(one|two)' cache || fail "kept names that may be missing"

# Without the variable nothing is asked.
kill $server
env -u DEBUGINFOD_URLS "$gprof_mt" report locks quality >out 2>err || fail "report: $(cat err)"
grep -q 'names may be missing' out && fail "said without a server: $(cat out)"
exit 0
