#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that gcc has compiled access in sections what valgrind's lackey says.
. "$GM_TOP/tests/access/exact.sh"
compare kinds gcc -O0
compare kinds gcc -O1
compare_all gcc g++ -O2
