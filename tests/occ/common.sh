# SPDX-License-Identifier: MIT
# Functions for the tests of `predict occ`: programs are recorded twice, once for their times and once with their
# accesses.
# shellcheck shell=bash
. "$GM_TOP/tests/access/common.sh"
# shellcheck disable=SC2034 # for build() and instrumented()
programs=$GM_TOP/tests/occ/programs

# record_both NAME [ARG...]: records ./NAME, built with and without instrumentation, into `timing` and `accesses`.
record_both()
{
	local name=$1
	shift
	record_all timing "./$name.bare" "$@" >timing.out 2>&1 || fail "$name: $(cat timing.out)"
	record_all accesses "./$name" "$@" >accesses.out 2>&1 || fail "$name: $(cat accesses.out)"
}

# predict [ARG...]: the prediction of both, joined by names, in JSON, into the file `got`.
predict()
{
	"$gprof_mt" predict occ --by-name --cost 10 --format json "$@" timing accesses >got 2>err ||
		fail "predict: $(cat err)"
}
