#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that gcc has compiled with the plugin access in sections what valgrind's lackey says.
. "$GM_TOP/tests/access/exact.sh"
[ -e "$GM_BUILD/access_gate.so" ] || skip "access_gate.so was not built: gcc's headers for plugins are missing"
compare kinds gcc -O2 "-fplugin=$GM_BUILD/access_gate.so"
compare_all gcc g++ -O3 "-fplugin=$GM_BUILD/access_gate.so"
