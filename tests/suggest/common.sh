# SPDX-License-Identifier: MIT
# Captures of programs/stock.c for the tests of suggestions.
# shellcheck shell=bash
. "$GM_TOP/tests/access/common.sh"
# shellcheck disable=SC2034 # for instrumented()
programs=$GM_TOP/tests/suggest/programs

# captures NAME [FLAG...]: records the program with accesses, and without, as NAME.a and NAME.t
captures()
{
	local name=$1
	shift
	mkdir -p "traced.$name" "bare.$name"
	instrumented stock gcc "$@"
	mv stock "traced.$name"
	record_all "$name.a" "traced.$name/stock" >out 2>&1 || fail "record $name: $(cat out)"
	"$CC" -O1 -g -pthread "$@" -o "bare.$name/stock" "$programs/stock.c" || fail "cannot build $name"
	"$gprof_mt" record -q -o "$name.t" --set sync.mode=all -- "bare.$name/stock" >out 2>&1 || fail "record $name: $(cat out)"
}
