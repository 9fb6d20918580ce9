#!/bin/bash
# SPDX-License-Identifier: MIT
# The locks of an OpenMP program in Fortran: libgomp's names for them end in _. The numbers of operations are those that
# the program makes, waits name the lock, the program's results are those without recording.
. "$GM_TOP/tests/lib.sh"
need jq gfortran

cat >locks.f90 <<'END_F'
program locks
  use omp_lib
  implicit none
  integer, parameter :: n = 500
  integer(omp_lock_kind) :: plain
  integer(omp_nest_lock_kind) :: nested
  integer :: i, n_plain, n_nested, n_tried
  n_plain = 0
  n_nested = 0
  n_tried = 0
  call omp_init_lock(plain)
  call omp_init_nest_lock(nested)
  !$omp parallel num_threads(3) private(i)
  do i = 1, n
    call omp_set_lock(plain)
    n_plain = n_plain + 1
    call omp_unset_lock(plain)
    call omp_set_nest_lock(nested)
    call omp_set_nest_lock(nested)
    n_nested = n_nested + 1
    call omp_unset_nest_lock(nested)
    call omp_unset_nest_lock(nested)
  end do
  !$omp end parallel
  if (omp_test_lock(plain)) then
    n_tried = n_tried + 1
    call omp_unset_lock(plain)
  end if
  n_tried = n_tried + 10 * omp_test_nest_lock(nested)
  n_tried = n_tried + 10 * omp_test_nest_lock(nested)
  call omp_unset_nest_lock(nested)
  call omp_unset_nest_lock(nested)
  call omp_destroy_nest_lock(nested)
  call omp_destroy_lock(plain)
  print *, n_plain, n_nested, n_tried
end program
END_F
gfortran -fopenmp -g -O1 -o locks locks.f90 2>err || skip "gfortran has no OpenMP: $(head -n 1 err)"
for mode in all contended; do
	fresh "$gprof_mt" record -q --set kernel.source=none --set sync.mode=$mode -- ./locks >out || fail "$mode: exit status $?"
	same "$mode: results" "$(./locks)" "$(cat out)"
	"$gprof_mt" report --format json locks sync quality >report.json || fail "$mode: report"
	same "$mode: operations" "omp_destroy_lock 2
omp_init_lock 2
omp_set_lock 4500
omp_test_lock 3
omp_unset_lock 4503" "$(jq -r '[.sync[] | select(.function | startswith("omp_"))] | group_by(.function)[]
		| "\(.[0].function) \(map(.calls) | add)"' report.json)"
	same "$mode: problems" 0 "$(jq '[.quality[] | select(.count)] | length' report.json)"
done
same "locks" "1501 mutex
3002 mutex" "$(fresh "$gprof_mt" record -q --set kernel.source=none --set sync.mode=all -- ./locks >out &&
	"$gprof_mt" report --format json locks | jq -r '.locks[] | select([.sites[].function] | any(startswith("omp_")))
		| "\(.acquired) \(.type)"' | sort)"
exit 0
