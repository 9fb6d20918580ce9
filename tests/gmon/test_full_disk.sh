#!/bin/bash
# SPDX-License-Identifier: MIT
# A full disk, a file size limit, missing permissions: the program's behavior does not change, one line names
# the problem and the remedy, calls are kept as far as possible, and the others are counted as lost.
. "$GM_TOP/tests/gmon/common.sh"

counted()
{
	calls "$1" | awk '{ n += $3 } END { print n + 0 }'
}

build_pg many_arcs
fresh ./many_arcs >out
same "thousands of arcs: gmon.out" "target $(cat out)" "$(flat many_arcs gmon.out)"
same "thousands of arcs: calls files" "$(cat out)" "$(counted "$(folder)")"
same "thousands of arcs: lost" 0 "$(lost "$(folder)")"

# A file size limit: no signal, no other exit status.
build_pg work
fresh ./work >expected
fresh bash -c 'ulimit -f 60; ./many_arcs' >out 2>err
same "ulimit -f: exit status" 0 $?
same "ulimit -f: calls" "$(cat out)" "$(($(counted "$(folder)") + $(lost "$(folder)")))"

# gmon.out cannot be written: one line; the capture has all calls.
fresh true
mkdir gmon.out
./work >out 2>err
same "gmon.out is a directory: exit status" 7 $?
cmp -s out expected || fail "gmon.out is a directory: output differs"
same "gmon.out is a directory: lines" 1 "$(wc -l <err)"
grep -q '^gprof-mt: .*gmon\.out: .*directory.*GMON_OUT_PREFIX' err || fail "$(cat err)"
same "gmon.out is a directory: the threads" "leaf 1000
run_leaf 1" "$(flat work "$(folder)"/gmon.1.*)"
build_pg constructors
./constructors 2>err || fail "gmon.out is a directory, and is to be written twice: exit status $?"
same "gmon.out is a directory, and is to be written twice: lines" 1 "$(wc -l <err)"
fresh true
echo precious >target && ln -s target gmon.out
./work >out 2>err
same "gmon.out is a link" "7 precious" "$? $(cat target)"
grep -q 'gmon\.out: .*link' err || fail "$(cat err)"
fresh true
mkfifo gmon.out
timeout 60 ./work >out 2>err
same "gmon.out is a fifo: exit status" 7 $?
rm gmon.out

# gmon files that could not be written at the program's request are written when it ends.
build_pg file_size_limit
timeout 60 ./file_size_limit 2>err || fail "gmon files at the end: exit status $?: $(cat err)"
gprof -b -p ./file_size_limit gmon.out 2>&1 | grep -q 'worker$' || fail "gmon files at the end: $(cat err; ls -l gmon.out)"

# A full disk, and a disk that becomes full during the run.
[ "$(id -u)" = 0 ] || exit 0
top=$PWD
mkdir disk
mount -t tmpfs -o size=512k none disk 2>/dev/null || { echo "no tmpfs: the remaining checks are skipped"; exit 0; }
trap 'cd "$top" && umount -l disk' EXIT
cd disk || exit 1
timeout 60 "$top/many_arcs" filler >"$top/out" 2>"$top/err"
same "disk fills up: exit status" 0 $?
[ "$(wc -l <"$top/err")" -le 2 ] || fail "disk fills up: $(cat "$top/err")"
same "disk fills up: calls" "$(cat "$top/out")" "$(($(counted "$(folder)") + $(lost "$(folder)")))"
[ "$(counted "$(folder)")" -ge 64 ] || fail "disk fills up: expected at least 64 calls, got $(counted "$(folder)")"

rm -rf -- * && timeout 60 "$top/many_arcs" filler kill >"$top/out" 2>"$top/err"
same "killed: exit status" 137 $?
[ "$(counted "$(folder)")" -ge 64 ] || fail "killed on a full disk: expected at least 64 calls, got $(counted "$(folder)")"

rm -rf -- *
while echo >>filler; do :; done 2>/dev/null
"$top/work" >"$top/out" 2>"$top/err"
same "full disk: exit status" 7 $?
cmp -s "$top/out" "$top/expected" || fail "full disk: output differs"
grep -q '^gprof-mt: .*no space left' "$top/err" || fail "full disk: $(cat "$top/err")"
exit 0
