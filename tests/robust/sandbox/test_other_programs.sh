#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Programs into which the libraries cannot be loaded (static, with musl, 32-bit, set-uid, in another root)
# have the same stdout, stderr and exit status as bare.  Each has a row in section quality.
. "$GM_TOP/tests/lib.sh"
unset GPROF_MT_CONFIG LD_PRELOAD

tree=$GM_BUILD/gprof-mt.preload
# shellcheck disable=SC2016 # expanded by the loader
by_hand="$tree/\$LIB/libgmon_mt.so:$tree/\$LIB/libsync_trace.so"
kinds=(plain)
declare -A reason=([static]='linked statically' [musl]='another C library' [narrow]='32-bit'
	[privileged]='set-uid' [script]='linked statically')

build other
cp other plain
if "$CC" -static -O1 -o static "$programs/other.c" 2>/dev/null; then
	kinds+=(static script)
	printf '#!%s/static\n' "$PWD" >script && chmod +x script
fi
if command -v musl-gcc >/dev/null && musl-gcc -O1 -o musl "$programs/other.c" 2>/dev/null; then
	kinds+=(musl)
fi
if "$CC" -m32 -O1 -fno-pie -no-pie -nostdlib -o narrow "$programs/narrow.c" /lib32/libc.so.6 \
	-Wl,-dynamic-linker,/lib/ld-linux.so.2 2>/dev/null && ./narrow >/dev/null 2>&1; [ $? = 6 ]; then
	kinds+=(narrow)
fi
if [ "$(id -u)" = 0 ]; then
	cp other privileged && chown 65534 privileged && chmod 4755 privileged
	kinds+=(privileged)
	mkdir -p root/lib64 root/lib/x86_64-linux-gnu
	cp /lib64/ld-linux-x86-64.so.2 root/lib64 && cp /lib/x86_64-linux-gnu/libc.so.6 root/lib/x86_64-linux-gnu
	cp other root/inside
fi
{
	for kind in "${kinds[@]}"; do
		echo "./$kind; echo \"$kind: \$?\""
	done
	if [ -e root/inside ]; then
		echo 'chroot root /inside; echo "chroot: $?"'
		echo './other root exec /inside; echo "exec: $?"'
		echo './other root fork /inside; echo "fork: $?"'
	fi
	echo "exit 9"
} >all.sh

# agrees WHAT COMMAND...: the results are those of the bare program, except for messages of gprof-mt
agrees()
{
	local what=$1
	shift
	fresh "$@" >out 2>err
	[ $? -eq 9 ] || fail "$what: expected exit status 9: $(cat err)"
	cmp -s out bare.out || fail "$what: stdout differs: $(diff out bare.out)"
	grep -v '^gprof-mt: ' err | cmp -s - bare.err || fail "$what: stderr differs: $(grep -v '^gprof-mt: ' err | diff - bare.err)"
}

sh all.sh >bare.out 2>bare.err
[ $? -eq 9 ] || fail "bare: $(cat bare.err)"
for kind in "${kinds[@]}"; do
	grep -q "^$kind: 6$" bare.out || fail "$kind, bare: $(cat bare.out bare.err)"
done
# rows: prints the count, program and reason of each row 'program not recorded'
rows()
{
	"$gprof_mt" report --format json quality | python3 -c 'import json, re, sys
for row in json.load(sys.stdin)["quality"]:
	if row["what"].startswith("program not recorded"): print(row["count"], row["where"], row["what"])'
}

n_rows=0
for source in none auto; do
	agrees "record, $source" "$gprof_mt" record --set kernel.source=$source -- sh all.sh
done
# With kernel events of exec, each program has a row.
if grep -qE 'events \((bpf|perf)\)' err; then
	rows >rows.txt
	for kind in "${kinds[@]}"; do
		[ -n "${reason[$kind]:-}" ] || continue
		grep -q "^1 ./$kind .*${reason[$kind]}" rows.txt || fail "$kind: expected a row with '${reason[$kind]}': $(cat rows.txt)"
		n_rows=$((n_rows + 1))
	done
	if [ -e root/inside ]; then
		grep -q "^3 /inside .*it left no data" rows.txt || fail "in another root: expected 3 of /inside without data: $(cat rows.txt)"
		n_rows=$((n_rows + 3))
	fi
	[ "$(awk '{ n += $1 } END { print n }' rows.txt)" = $n_rows ] || fail "expected $n_rows programs in the rows: $(cat rows.txt)"
	grep -q "($n_rows programs not recorded), " err || fail "expected '$n_rows programs not recorded' in the last line: $(cat err)"
	"$gprof_mt" record -o alone -- ./other ./root exec /inside >out 2>&1
	grep -q '1 process.* (1 program not recorded)' out ||
		[ ! -e root/inside ] || fail "a process that executes another program: expected '(1 program not recorded)'"
fi
agrees "by hand" env LD_PRELOAD="$by_hand" sh all.sh
agrees "by hand, with a configuration" env LD_PRELOAD="$by_hand" GPROF_MT_CONFIG=/dev/null sh all.sh
# Each program alone: record reports the reason, and the program runs as bare.
for kind in "${kinds[@]}"; do
	./"$kind" >bare.out 2>bare.err
	"$gprof_mt" record -o alone -- ./"$kind" >out 2>err
	[ $? -eq 6 ] || fail "$kind alone: expected exit status 6: $(cat err)"
	cmp -s out bare.out || fail "$kind alone: stdout differs: $(diff out bare.out)"
	grep -v '^gprof-mt: ' err | cmp -s - bare.err || fail "$kind alone: stderr differs: $(cat err)"
	[ -z "${reason[$kind]:-}" ] || [ "$(grep -c "^gprof-mt: no call graph, no synchronization.*${reason[$kind]}" err)" = 1 ] ||
		fail "$kind alone: expected one message with '${reason[$kind]}': $(cat err)"
done
echo "${#kinds[@]} kinds of programs (${kinds[*]}), from a shell and alone: as bare; $n_rows not recorded, and reported"
