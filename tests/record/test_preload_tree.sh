#!/bin/bash
# SPDX-License-Identifier: MIT
# The tree of libraries for LD_PRELOAD has, for 32-bit programs, an empty library under each name that `record` preloads
# in any mode, so that their loader prints no warning; also if the compiler is a command of several words.
. "$GM_TOP/tests/lib.sh"
unset GPROF_MT_CONFIG LD_PRELOAD
"$CC" -m32 -shared -nostdlib -o witness.so "$GM_TOP/libgmon-mt/preload/stub.S" 2>/dev/null ||
	skip "no linker for 32-bit programs"

mkdir libraries
ln -s "$GM_BUILD"/*.so libraries/
"$GM_TOP/libgmon-mt/preload/make-tree" "$PWD/libraries/gprof-mt.preload" "env $CC -O1" || fail "make-tree"

# preloaded OPTION...: prints the names of the libraries in LD_PRELOAD.
preloaded()
{
	# shellcheck disable=SC2016 # expanded by the recorded shell
	GPROF_MT_LIBDIR=$PWD/libraries fresh "$gprof_mt" record -q --set kernel.source=none --set sample.stacks=off "$@" -- \
		sh -c 'echo "$LD_PRELOAD"' >out 2>err || fail "record $*: $(cat err)"
	grep -q "^$PWD/libraries/gprof-mt.preload/[$]LIB/" out || fail "record $*: the tree is not used: $(cat out)"
	tr : '\n' <out | sed 's,.*/,,'
}

preloaded >names
if [ -e "$GM_BUILD/libaccess_step.so" ]; then
	preloaded --accesses=sampled >>names
	preloaded --accesses=sampled --set access.blocks=on >>names
	grep -qx libaccess_step_blocks.so names || fail "access.blocks=on preloads $(xargs <names)"
fi
[ "$(sort -u names | wc -l)" -ge 2 ] || fail "preloaded: $(cat names)"
for dir in lib lib32 lib/i386-linux-gnu; do
	for name in $(sort -u names); do
		file=libraries/gprof-mt.preload/$dir/$name
		[ -e "$file" ] || fail "$dir has no $name: $(ls -l "${file%/*}")"
		# EI_CLASS: 1 in 32-bit files.
		[ "$(od -An -j4 -N1 -tu1 "$file" | xargs)" = 1 ] || fail "$dir/$name is not a 32-bit library"
	done
done

"$CC" -m32 -O1 -fno-pie -no-pie -nostdlib -o narrow "$GM_TOP/tests/robust/sandbox/programs/narrow.c" \
	/lib32/libc.so.6 -Wl,-dynamic-linker,/lib/ld-linux.so.2 2>/dev/null && { ./narrow >bare.out 2>bare.err; [ $? = 6 ]; } ||
	{ echo "no 32-bit program runs here: the loader's warnings are not checked"; exit 0; }
list=$(sort -u names | sed "s,^,$PWD/libraries/gprof-mt.preload/\$LIB/," | paste -sd :)
LD_PRELOAD=$list ./narrow >narrow.out 2>narrow.err
same "exit status" 6 $?
same "stdout" "$(cat bare.out)" "$(cat narrow.out)"
same "stderr" "$(cat bare.err)" "$(cat narrow.err)"
