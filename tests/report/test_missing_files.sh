#!/bin/bash
# SPDX-License-Identifier: MIT
# Each file and folder of a capture, removed, cut in half or emptied: the report names it and fails, or says why
# it has nothing to show. Only the files in `spare` hold nothing that a report shows.
. "$GM_TOP/tests/lib.sh"
build_pg running -mfentry -minstrument-return=call
# config: the settings are in info.json, too; used: for output.max while the program runs; files: the list itself,
# without which a missing file may go unnoticed; gmon.*: made from `calls`.
spare='^(config|used|files|gmon\.out|[0-9]+/gmon\..*)$'

"$gprof_mt" record -q --set calls.mode=history --set sync.holds=yes --set sync.mode=contended ./running 500 \
	</dev/null >out || fail "record: $(cat out)"
mv gprof-mt.data whole
"$gprof_mt" report -i whole summary quality >text 2>err && [ ! -s err ] && grep -q 'lost  *nothing' text ||
	fail "undamaged: $(cat text err)"

# check NAME HOW: the report of `cut` names NAME, or a folder or file to which it belongs.
check()
{
	local status=0
	"$gprof_mt" report -i cut summary quality >text 2>err || status=$?
	[ $status = 1 ] || fail "$2 $1: status $status: $(cat text err)"
	grep -q 'lost  *nothing' text && fail "$2 $1: nothing lost"
	grep -qE "cut(/${1%%/*}(/|:)|/${1%/*}(:| )| is not a capture)" err || fail "$2 $1: $(cat err)"
}

n=0 n_spare=0
while IFS= read -r name; do
	if [[ $name =~ $spare ]]; then
		n_spare=$((n_spare + 1))
		continue
	fi
	for how in removed half empty; do
		[ ! -d "whole/$name" ] || [ $how = removed ] || continue
		rm -rf cut
		cp -a whole cut
		case $how in
		removed) rm -r "cut/$name" ;;
		half) truncate -s $(($(stat -c %s "cut/$name") / 2)) "cut/$name" ;;
		empty) truncate -s 0 "cut/$name" ;;
		esac
		[ $how = removed ] || [ -s "whole/$name" ] || continue
		check "$name" $how
		n=$((n + 1))
	done
done < <(cd whole && find . -mindepth 1 -printf '%P\n' | LC_ALL=C sort)
echo "$n kinds of damage are named; $n_spare files have nothing that a report shows"
[ $n -gt 40 ] || fail "only $n kinds of damage"

# The list of files: a part of it.
rm -rf cut
cp -a whole cut
truncate -s -30 cut/files
check files half

# A signal removes the unfinished file of an export, and ends it as usual.
cat >raises.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
/* export calls this when it has made its temporary file. */
mode_t umask(mode_t mask)
{
	(void)mask;
	fclose(fopen("there", "w"));
	raise(atoi(getenv("SIGNAL")));
	return 022;
}
END
"$CC" -shared -fPIC -o raises.so raises.c || fail 'cannot compile raises.c'
for signal in INT TERM HUP; do
	number=$(kill -l $signal) status=0
	mkdir -p exported
	env SIGNAL="$number" ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" \
		LD_PRELOAD="$PWD/raises.so" "$gprof_mt" export -i whole --format perfetto -o exported/page 2>err || status=$?
	[ $status = $((128 + number)) ] || fail "SIG$signal: status $status: $(cat err)"
	[ -e there ] || fail "SIG$signal: not sent"
	[ -z "$(ls exported)" ] || fail "SIG$signal: left $(ls exported)"
	rm there
done
exit 0
