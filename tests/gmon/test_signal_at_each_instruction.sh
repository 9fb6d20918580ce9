#!/bin/bash
# SPDX-License-Identifier: MIT
# A signal handler interrupts mcount after each instruction and makes the table grow, forks, turns counting
# off and on, or unwinds: the counts stay exact, and the child continues with only its own calls. A sample
# after any instruction of the library is taken. Handlers may jump out, or make calls while other signals are
# blocked.
. "$GM_TOP/tests/gmon/common.sh"

# certain: omits the calls whose handler jumped out
certain()
{
	if [ $action = jump ]; then grep -v worker; else cat; fi
}

for flags in -DENTRY=mcount "-mfentry -DENTRY=__fentry__"; do
	# shellcheck disable=SC2086 # the flags are split on purpose
	build_pg steps $flags -I"$GM_TOP/libgmon-mt/include"
	for action in grow fork large _Fork pause unwind sample jump call; do
		[[ $flags$action != -mfentry*@(jump|call) ]] || continue # has the same code as mcount
		what="$action $flags"
		fresh ./steps $action >expected 2>err || fail "$what: $(cat expected err)"
		[ "$(awk '{ print $1 }' err)" -ge 15 ] || fail "$what: expected at least 15 instructions, got $(cat err)"
		folder=$(dirname gprof-mt.data/*/gmon.[01].* | uniq)
		if [ $action = call ]; then
			same "$what: calls made, and those counted or known to be lost" \
				"$(awk '{ n += $2 } END { print n }' expected)" \
				"$(($(calls "$folder" | awk '{ n += $3 } END { print n }') + $(lost "$folder")))"
			continue
		fi
		same "$what: gmon.out" "$(cat expected)" "$(flat steps gmon.out | certain)"
		same "$what: calls files" "$(cat expected)" "$(calls "$folder" |
			awk '{ n[$2] += $3 } END { for (f in n) print f, n[f] }' | sort | certain)"
		report=$("$GM_BUILD/gprof-mt" report quality 2>&1) || fail "$what: $report"
		! grep -E "samples not taken|calls not counted" <<<"$report" || fail "$what: $report"
		for child in gprof-mt.data/[0-9]*; do
			[ "$child" = "$folder" ] || [ ! -e "$child/maps" ] ||
				same "$what: a child" "0 worker 1" "$(calls "$child")"
		done
	done
done
exit 0
