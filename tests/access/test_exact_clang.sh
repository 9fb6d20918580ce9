#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that clang has compiled access in sections what valgrind's lackey says.
. "$GM_TOP/tests/access/exact.sh"
need clang clang++
compare_all clang clang++ -O2
