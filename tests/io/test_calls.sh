#!/bin/bash
# SPDX-License-Identifier: MIT
# Each blocking call is recorded once, with its kind, object and result, and as long as by the program's own account;
# shorter ones than [io] threshold are not. Cancelled calls are recorded, too. The results are the same without the
# library and with it.
. "$GM_TOP/tests/io/common.sh"
need python3

build calls
for mode in ends signal restart cancel async errors; do
	./calls $mode >without.$mode 2>err || fail "the program fails without the library ($mode): $(cat err)"
	for config in every traced off; do
		printf '[io]\nthreshold = off\n' >off.conf
		GPROF_MT_CONFIG=$config.conf traced ./calls $mode account >with 2>err ||
			fail "$mode, $config: the program fails when traced: $(cat err)"
		[ ! -s err ] || fail "$mode, $config: unexpected message: $(cat err)"
		diff without.$mode with || fail "$mode, $config: the results change when traced"
		io_events >found || fail "$mode, $config: $(tail -n 3 found)"
		case $config,$mode in
		off,*)
			[ ! -s found ] || fail "$mode: calls are recorded with io.threshold = off: $(cat found)" ;;
		every,errors)
			# Each function that the map lists occurs.
			n=$(cut -d' ' -f1 found | sort -u | wc -l)
			[ "$n" -ge 60 ] || fail "errors: only $n kinds of calls are recorded" ;;
		*,errors)
			awk '$6 - $5 < 10000' found >short
			[ ! -s short ] || fail "errors: short calls are recorded: $(cat short)" ;;
		*,cancel | *,async)
			while read -r name tid cancelled; do
				# Some calls are no cancellation points, or failed at once.
				wanted="^$name $tid $([ "$cancelled" = 1 ] && echo 125 || echo '[0-9]*') "
				[ "$config,$cancelled" != traced,0 ] || continue
				[ "$(grep -c "$wanted" found)" -ge 1 ] || fail "$mode, $config: no event '$wanted': $(grep "$tid" found)"
			done <account ;;
		*)
			python3 "$programs/check_account.py" account found "$([ $config = every ] && echo 0 || echo 10000)" >problems ||
				fail "$mode, $config: $(cat problems)"
			head -n 1 problems ;;
		esac
	done
done
[ "$(grep -c ' cancelled 1' without.cancel)" -gt 60 ] || fail "expected more than 60 cancelled calls"
