#!/bin/bash
# SPDX-License-Identifier: MIT
# After `make install` a program can be compiled with the flags of pkg-config. The libraries export the names
# that a -pg program needs, without versions, and no others.
. "$GM_TOP/tests/gmon/common.sh"
need pkg-config

exported()
{
	nm "$@" | awk '$2 ~ /^[A-Z]$/ && $2 != "U" { print $3 }' | LC_ALL=C sort | tr '\n' ' '
}
names="__cyg_profile_func_enter __cyg_profile_func_exit __fentry__ __monstartup __return__ _mcleanup _mcount mcount moncontrol monstartup "
# The shared library also interposes the functions for unloading, seccomp filters, keys, thread ends and process
# ends.
shared=$(tr ' ' '\n' <<<"__asan_default_options __cxa_finalize gm_thread_watch_shared prctl syscall $names
	execl execle execlp execv execve execveat execvp execvpe fexecve _exit _Exit daemon _Fork
	pthread_key_create __pthread_key_create tss_create" | tr -d '\t' | sed '/^$/d' |
	LC_ALL=C sort | tr '\n' ' ')
same "libgmon_mt.so exports" "$shared" "$(exported -D "$GM_BUILD/libgmon_mt.so")"
same "libgmon_mt.a exports" "$names" "$(exported -g "$GM_BUILD/libgmon_mt.a")"

# BINDIR is compiled into the libraries; another value would rebuild them while other tests use them.
bindir=$(cat "$GM_BUILD/obj/bindir")
make -s -C "$GM_TOP" install-gmon SAN="$(sed -n 's/.*build-//p' <<<"$GM_BUILD")" \
	DESTDIR="$PWD/root" PREFIX=/opt/test BINDIR="$bindir" >log 2>&1 || fail "make install: $(cat log)"
export PKG_CONFIG_LIBDIR=$PWD/root/opt/test/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/root
cp "$GM_TOP/tests/gmon/programs/work.c" .
# shellcheck disable=SC2046 # the words are split on purpose
"$CC" -g -pthread $(pkg-config --cflags gmon-mt) -o work work.c \
	$(pkg-config --libs gmon-mt) || fail "cannot compile with $(pkg-config --cflags --libs gmon-mt)"
LD_LIBRARY_PATH=$PWD/root/opt/test/lib fresh ./work >out
same "a thread's file" "leaf 1000
run_leaf 1" "$(flat work "$(folder)"/gmon.1.*)"

# LD_PRELOAD finds the libraries in another library directory too.
make -s -C "$GM_TOP" install-gmon install-sync SAN="$(sed -n 's/.*build-//p' <<<"$GM_BUILD")" \
	DESTDIR="$PWD/other" PREFIX=/opt/test BINDIR="$bindir" LIBDIR=/opt/test/lib/deep >log 2>&1 || fail "make install: $(cat log)"
libdir=$PWD/other/opt/test/lib/deep
# shellcheck disable=SC2016 # expanded by the recorded shell
loaded=$(GPROF_MT_LIBDIR=$libdir "$GM_BUILD/gprof-mt" record -q -o installed --set kernel.source=none -- \
	sh -c 'echo "$LD_PRELOAD"; grep -oE "/[^ ]*/lib(gmon_mt|sync_trace).so" /proc/self/maps | sort -u')
same "loaded from there" "$libdir/gprof-mt.preload/\$LIB/libgmon_mt.so:$libdir/gprof-mt.preload/\$LIB/libsync_trace.so
$libdir/libgmon_mt.so
$libdir/libsync_trace.so" "$loaded"

# The commands of README after `make install`, in a private view of the file system.
[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "no private mounts: the README's commands are skipped"; exit 0; }
# In a user namespace, "/" may belong to nobody.
[ "$(stat -c %u /)" = 0 ] || { echo "/usr/local belongs to another user: the README's commands are skipped"; exit 0; }
cat >installed.sh <<'END'
mount -t tmpfs none layers || exit 77
for dir in /usr/local /etc; do
	mkdir -p layers$dir/upper layers$dir/work
	mount -t overlay -o "lowerdir=$dir,upperdir=layers$dir/upper,workdir=layers$dir/work" none $dir || exit 77
done
make -s -C "$GM_TOP" install SAN="$1" BINDIR="$2" >make.out 2>&1 || exit 1
mkdir app && cd app || exit 1
cp ../work.c app.c
(
	set -e
	unset LD_LIBRARY_PATH GPROF_MT_LIBDIR
	PATH=/usr/local/bin:$PATH # as a login shell has it
	"$CC" -pg -g -O2 app.c -lgmon_mt -o app
	gprof-mt doctor ./app >doctor
	status=0
	gprof-mt record -- ./app 1000 2000 2>record || status=$?
	[ $status = 7 ]
	gprof-mt report >report
	gprof ./app gmon.out | grep -q leaf
	: >/etc/ld.so.conf
	make -s -C "$GM_TOP" install SAN="$1" BINDIR="$2" >../not_searched.out
) >../log 2>&1
END
mkdir layers
unset PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
unshare -m bash installed.sh "$(sed -n 's/.*build-//p' <<<"$GM_BUILD")" "$bindir"
case $? in
77) echo "no overlay mounts: the README's commands are skipped" ;;
0)
	same "make install" "" "$(cat make.out)"
	grep -qx 'gprof-mt: gmon.out: the calls of all threads together, for gprof' app/record || fail "record: $(cat app/record)"
	grep -q '^make install: the loader does not search /.*: link programs' not_searched.out ||
		fail "without /etc/ld.so.conf: $(cat not_searched.out)"
	;;
*) fail "$(cat make.out log app/record)" ;;
esac
exit 0
