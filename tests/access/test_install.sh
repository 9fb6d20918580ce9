#!/bin/bash
# SPDX-License-Identifier: MIT
# After `make install` a program is compiled and linked with the flags of pkg-config, in two steps, by gcc and clang.
. "$GM_TOP/tests/access/common.sh"
need pkg-config

bindir=$(cat "$GM_BUILD/obj/bindir")
make -s -C "$GM_TOP" install-gmon install-sync install-access DESTDIR="$PWD/root" PREFIX=/opt/test BINDIR="$bindir" \
	>log 2>&1 || fail "make install: $(cat log)"
same "the files" "libaccess_trace.a libaccess_trace.so pkgconfig/access-trace.pc" \
	"$(cd root/opt/test/lib && echo ./*access* pkgconfig/*access* | sed 's,\./,,g')"
export PKG_CONFIG_LIBDIR=$PWD/root/opt/test/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$PWD/root
for compiler in $(compilers); do
	# shellcheck disable=SC2046 # the words are split on purpose
	"$compiler" -g $(pkg-config --cflags access-trace) -c -o segments.o "$programs/segments.c" &&
		"$compiler" -o segments segments.o -pthread -Wl,--as-needed $(pkg-config --libs access-trace) ||
		fail "cannot compile with $(pkg-config --cflags --libs access-trace)"
	rm -rf gprof-mt.data
	printf '[sync]\nmode = all\n' >gprof-mt.conf
	GPROF_MT_CONFIG=$PWD/gprof-mt.conf LD_LIBRARY_PATH=$PWD/root/opt/test/lib ./segments >out 2>err ||
		fail "$compiler: $(cat err)"
	babeltrace2 -c sink.utils.counter gprof-mt.data/[0-9]*/accesses >counts 2>err || fail "$compiler: $(cat err)"
	grep -q '[0-9]\{4\} Event messages' counts || fail "$compiler: $(cat counts)"
	rm -rf d
	GPROF_MT_LIBDIR=$PWD/root/opt/test/lib LD_LIBRARY_PATH=$PWD/root/opt/test/lib \
		"$gprof_mt" record -q -o d --set sync.mode=all --set kernel.source=none ./segments >out 2>err ||
		fail "$compiler, record: $(cat err)"
	babeltrace2 -c sink.utils.counter d/[0-9]*/accesses >counts 2>err || fail "$compiler, record: $(cat err)"
	grep -q '[0-9]\{4\} Event messages' counts || fail "$compiler, record: $(cat counts)"
done
