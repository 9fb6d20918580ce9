#!/bin/bash
# SPDX-License-Identifier: MIT
# After `make install` a program is compiled and linked with the flags of pkg-config, in two steps, by gcc and clang.
. "$GM_TOP/tests/access/common.sh"
need pkg-config

bindir=$(cat "$GM_BUILD/obj/bindir")
make -s -C "$GM_TOP" install-gmon install-sync install-access DESTDIR="$PWD/root" PREFIX=/opt/test BINDIR="$bindir" \
	>log 2>&1 || fail "make install: $(cat log)"
plugin='' files="libaccess_trace.a libaccess_trace.so pkgconfig/access-trace.pc"
if [ -e "$GM_BUILD/access_gate.so" ]; then
	plugin=gcc:access-trace-gcc
	files="gprof-mt/access_gate.so ${files/access-trace/access-trace-gcc.pc pkgconfig/access-trace}"
fi
[ ! -e "$GM_BUILD/libaccess_step.so" ] || files="${files/libaccess_trace.a/libaccess_step.so libaccess_step_blocks.so libaccess_trace.a}"
same "the files" "$files" "$(cd root/opt/test/lib && find . -name '*access*' ! -path '*.preload/*' | sed 's,\./,,' | LC_ALL=C sort | xargs)"
export PKG_CONFIG_LIBDIR=$PWD/root/opt/test/lib/pkgconfig
flags()
{
	pkg-config "--define-variable=libdir=$PWD/root/opt/test/lib" "$@"
}
for case in $(compilers | sed 's,$,:access-trace,') $plugin; do
	compiler=${case%:*} package=${case#*:}
	# shellcheck disable=SC2015,SC2046 # the words are split on purpose
	"$compiler" -g $(flags --cflags "$package") -c -o segments.o "$programs/segments.c" &&
		"$compiler" -o segments segments.o -pthread -Wl,--as-needed $(flags --libs "$package") ||
		fail "cannot compile with $(flags --cflags --libs "$package")"
	rm -rf gprof-mt.data
	printf '[sync]\nmode = all\n' >gprof-mt.conf
	GPROF_MT_CONFIG=$PWD/gprof-mt.conf LD_LIBRARY_PATH=$PWD/root/opt/test/lib ./segments >out 2>err ||
		fail "$case: $(cat err)"
	babeltrace2 -c sink.utils.counter gprof-mt.data/[0-9]*/accesses >counts 2>err || fail "$case: $(cat err)"
	grep -q '[0-9]\{4\} Event messages' counts || fail "$case: $(cat counts)"
	rm -rf d
	GPROF_MT_LIBDIR=$PWD/root/opt/test/lib LD_LIBRARY_PATH=$PWD/root/opt/test/lib \
		"$gprof_mt" record -q -o d --set sync.mode=all --set kernel.source=none ./segments >out 2>err ||
		fail "$case, record: $(cat err)"
	babeltrace2 -c sink.utils.counter d/[0-9]*/accesses >counts 2>err || fail "$case, record: $(cat err)"
	grep -q '[0-9]\{4\} Event messages' counts || fail "$case, record: $(cat counts)"
done
