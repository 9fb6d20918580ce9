#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls that cannot be counted are reported as lost with the reason, by report and by record.
. "$GM_TOP/tests/gmon/common.sh"
capture=gprof-mt.data
[ -x "$gprof_mt" ] || skip "gprof-mt is not built"

# quality: prints "COUNT WHAT" of each row
quality()
{
	"$gprof_mt" report -i "$capture" --format json quality |
		python3 -c 'import json, sys
for row in json.load(sys.stdin)["quality"]:
	print(row["count"], row["what"])'
}

# check NAME REASON COMMAND...: the counted calls and those lost for this reason add up to all calls.
check()
{
	local what=$1 reason=$2 calls counted lost
	shift 2
	fresh timeout 60 "$@" >out 2>err || fail "$what: exit status $?: $(cat err)"
	calls=$(tr -d ' ' <out)
	counted=$(calls "$capture"/[1-9]* | awk '$2 == "target" { n += $3 } END { print n + 0 }')
	quality >rows || fail "$what: report"
	lost=$(awk '/ calls / { n += $1 } END { print n + 0 }' rows)
	[ "$lost" -gt 0 ] || fail "$what: expected lost calls"
	same "$what: counted and lost" "$calls" $((counted + lost))
	same "$what: lost for another reason" "" "$(grep ' calls ' rows | grep -v ": $reason\$")"
}

build_pg losses
check address_space "no memory or address space left" ./losses address_space
check descriptors "a file could not be created, opened or written" ./losses descriptors
check file_size "the limit on the size of files is too low (ulimit -f)" ./losses file_size
check no_function "__cyg_profile_func_enter() was called with a null function" ./losses no_function
check threads "the limit on the size of files is too low (ulimit -f)" ./losses threads
grep -q '^[0-9]* threads not recorded because the thread table had no room: the limit' rows ||
	fail "threads: $(cat rows)"

# record reports them too.
fresh "$gprof_mt" record -q --set kernel.source=none ./losses no_function >out 2>err
same "record" "gprof-mt: lost: runtime libraries: calls that were not counted: \
__cyg_profile_func_enter() was called with a null function: 3" "$(cat err)"

# Calls before the library is initialized, and calls of a second copy of the library.
link_with "$GM_BUILD/libgmon_mt.a"
build_pg resolvers -static
fresh ./resolvers || fail "early: exit status $?"
quality >rows
grep -qx '[1-9][0-9]* calls of unknown threads not counted: .*before relocation (IFUNC resolvers), .*' rows ||
	fail "early: $(cat rows)"
compile_pg -fPIC -shared -o plugin.so library.c
build_pg plugin_user -Wl,--exclude-libs,ALL
# The program runs long enough to be sampled.
mapfile -t plugins < <(yes ./plugin.so | head -400)
fresh preloaded ./plugin_user "${plugins[@]}" || fail "twice: exit status $?"
quality >rows
same "twice" "24000 calls not counted: the program contains libgmon_mt twice; link it once" "$(cat rows)"
same "twice: gmon.out is of the first" "main 1" "$(flat plugin_user gmon.out)"

# A full disk.
[ "$(id -u)" = 0 ] || exit 0
link_with -L"$GM_BUILD" -lgmon_mt -Wl,-rpath,"$GM_BUILD"
build_pg many_arcs
mkdir disk
mount -t tmpfs -o size=512k none disk 2>/dev/null || { echo "no tmpfs: the remaining checks are skipped"; exit 0; }
trap 'umount -l disk' EXIT
printf '[output]\ndir = disk/capture\n' >gprof-mt.conf
capture=disk/capture
check disk "no room on the disk" ./many_arcs disk/filler
exit 0
