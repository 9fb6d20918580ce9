#!/bin/bash
# SPDX-License-Identifier: MIT
# tests/lint/run takes a build folder, and refuses anything else with one line, before it checks anything.
. "$GM_TOP/tests/lib.sh"

# refused TEXT ARG...: exit status 2, and one line with the text
refused()
{
	"$GM_TOP/tests/lint/run" "${@:2}" >out 2>err
	same "${*:2}: exit status" 2 $?
	same "${*:2}: lines" "0 1" "$(wc -l <out) $(wc -l <err)"
	grep -qF -- "$1 (usage: tests/lint/run BUILD)" err || fail "${*:2}: $(cat err)"
}
refused "expected one argument, found 0"
refused "expected one argument, found 2" build more
refused "unknown option '--fix'" --fix
refused "no build folder 'none'" none
exit 0
