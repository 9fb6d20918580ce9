#!/bin/bash
# SPDX-License-Identifier: MIT
# After `make install` a stranger compiles with what pkg-config says; the libraries export the names
# that a -pg program asks for, without versions, and nothing else.
. "$GM_TOP/tests/runtime/gmon/common.sh"
command -v pkg-config >/dev/null || skip "pkg-config is not installed"

exported()
{
	nm "$@" | awk '$2 ~ /^[A-Z]$/ && $2 != "U" { print $3 }' | LC_ALL=C sort | tr '\n' ' '
}
names="__cyg_profile_func_enter __cyg_profile_func_exit __fentry__ __monstartup __return__ _mcleanup _mcount mcount moncontrol monstartup "
same "libgmon_mt.so exports" "__asan_default_options __cxa_finalize $names" "$(exported -D "$GM_BUILD/libgmon_mt.so")"
same "libgmon_mt.a exports" "$names" "$(exported -g "$GM_BUILD/libgmon_mt.a")"

make -s -C "$GM_TOP" install-gmon SAN="$(sed -n 's/.*build-//p' <<<"$GM_BUILD")" \
	DESTDIR="$PWD/root" PREFIX=/opt/test >log 2>&1 || fail "make install: $(cat log)"
export PKG_CONFIG_LIBDIR=$PWD/root/opt/test/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/root
cp "$GM_TOP/tests/runtime/gmon/work.c" .
# shellcheck disable=SC2046 # several words
"$CC" -g -pthread $(pkg-config --cflags gmon-mt) -o work work.c \
	$(pkg-config --libs gmon-mt) || fail "cannot compile with $(pkg-config --cflags --libs gmon-mt)"
LD_LIBRARY_PATH=$PWD/root/opt/test/lib fresh ./work >out
same "a thread's file" "leaf 1000
run_leaf 1" "$(flat work "$(folder)"/gmon.1.*)"
exit 0
