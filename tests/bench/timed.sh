# SPDX-License-Identifier: MIT
# shellcheck shell=bash

# timed FILE COMMAND...: appends user + sys, in seconds, to FILE; the command's output goes to the files out and err.
timed()
{
	local file=$1 TIMEFORMAT='%U %S'
	shift
	{ time "$@" >out 2>err; } 2>seconds || { cat err >&2; exit 1; }
	awk '{ print $1 + $2 }' seconds >>"$file"
}
