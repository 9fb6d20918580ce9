#!/bin/bash
# SPDX-License-Identifier: MIT
# A usage or configuration error is reported in one line that names it, before the program is started.
. "$GM_TOP/tests/lib.sh"

# refuses STATUS REGEX ARGUMENT...: prints one line on stderr, runs no program, leaves no file.
refuses()
{
	local status=$1 regex=$2
	shift 2
	ls -A >before
	"$gprof_mt" record "$@" >out 2>err
	[ $? = "$status" ] || fail "record $*: expected exit status $status; $(cat err)"
	[ "$(wc -l <err)" = 1 ] && grep -qE "$regex" err || fail "record $*: $(cat err)"
	[ ! -s out ] || fail "record $*: the program ran: $(cat out)"
	ls -A | cmp - before || fail "record $*: the directory changed"
}
touch before out err

# No program, or one that cannot be run: the exit status of a shell.
echo text >file
mkdir folder
printf '#!/no/such/interpreter\n' >script && chmod +x script
refuses 127 'nonesuch: command not found' nonesuch
refuses 127 '\./nonesuch: No such file' -- ./nonesuch
refuses 126 '\./file: Permission denied' ./file
refuses 126 '\./folder: Permission denied' ./folder

# Wrong options.
refuses 2 'no command'
refuses 2 'no option --nonesuch' --nonesuch echo ran
refuses 2 "no profile 'x': use applic-only, full-sched or full" --profile x echo ran
refuses 2 'exclude each other' --profile full --config c echo ran

# Wrong configuration: the message has file, line, key and the accepted values.
printf '# comment\n[kernel]\nsource = perv\n' >bad.conf
refuses 2 "bad\.conf:3: .*'perv' for kernel\.source: use auto" --config bad.conf echo ran
printf '[profile]\nlevel = full\nlevle = full\n' >bad.conf
refuses 2 "bad\.conf:3: unknown key 'levle'" --config bad.conf echo ran
refuses 2 'nonesuch\.conf: cannot open' --config nonesuch.conf echo ran
refuses 2 "unknown group 'x'" --set x.y=1 echo ran
refuses 2 "invalid value 'maybe' for sync.mode" --set sync.mode=maybe echo ran
GPROF_MT_CONFIG=bad.conf refuses 2 'bad\.conf:3' echo ran
mv bad.conf gprof-mt.conf
refuses 2 'gprof-mt\.conf:3' echo ran
rm gprof-mt.conf

# The directory cannot be created, is no capture, is a file or a symlink, or has a name that a line cannot
# hold.
refuses 1 'nonesuch/dir: cannot create' -o nonesuch/dir echo ran
touch folder/precious
refuses 1 'folder: exists and is not a gprof-mt capture' -o folder echo ran
refuses 1 'file: (exists and )?is not a directory' -o file echo ran
ln -s folder link
refuses 1 'link: ' -o link echo ran
refuses 1 'cannot hold this name' -o $'two\nlines' echo ran
[ -e folder/precious ] && [ "$(cat file)" = text ] || fail "a file of the user was removed"
if [ "$(id -u)" != 0 ]; then
	chmod a-w folder
	refuses 1 'folder/dir: cannot create' -o folder/dir echo ran
fi

# A missing interpreter is noticed only at execution; no capture is left.
"$gprof_mt" record -q ./script 2>err
[ $? = 127 ] || fail "script without interpreter; $(cat err)"
grep -q 'cannot execute ./script: No such file' err || fail "$(cat err)"
[ ! -e gprof-mt.data ] || fail "an empty capture is left"

# One old capture is kept; a directory that is no capture is never replaced.
for run in 1 2 3; do
	"$gprof_mt" record -q sh -c "exit $run"
	[ $? = $run ] || fail "run $run"
done
[ "$(info exit_status)" = 3 ] && [ "$(info exit_status gprof-mt.data.old)" = 2 ] ||
	fail "captures: $(ls -d gprof-mt.data*)"
rm -r gprof-mt.data.old
mkdir gprof-mt.data.old && touch gprof-mt.data.old/precious
refuses 1 'cannot rename' echo ran
[ -e gprof-mt.data.old/precious ] && [ "$(info exit_status)" = 3 ] || fail "a directory that is no capture was replaced, or the run was not recorded"
rm -r gprof-mt.data.old

# Two recordings to one directory: the second is refused, the first is unaffected.
mkfifo gate
"$gprof_mt" record -q sh -c 'echo ready; read line; exit 5' <gate >first &
exec 9>gate
until_true 60 grep -q ready first || fail "not started"
refuses 1 'is still being written to' echo ran
echo >&9
wait $!
[ $? = 5 ] && [ "$(info exit_status)" = 5 ] || fail "the first run was affected"

# Level `full` reports what it cannot record.
"$gprof_mt" record --profile full --set kernel.source=none true 2>err || fail "full: $(cat err)"
grep -q 'not recorded here: system calls, page faults, timers, signals, block I/O' err || fail "$(cat err)"
[[ "$(info not_collected)" == *'"page faults"'* ]] || fail "$(info not_collected)"
"$gprof_mt" record --profile applic-only true 2>err || fail "applic-only: $(cat err)"
[ "$(info 'kernel source')" = none ] && [ "$(info 'kernel why')" = 'profile.level = applic-only' ] ||
	fail "$(info kernel)"
[ ! -e gprof-mt.data/kernel ] || fail "kernel events of applic-only"

# The shipped configurations are accepted.
for file in "$GM_TOP"/configs/*.conf; do
	level=$(basename "$file" .conf)
	"$gprof_mt" record -q --config "$file" true || fail "$file"
	[ "$(info 'config level')" = "$level" ] || fail "$file: $(info config)"
done

# Help that cannot be written is an error in every subcommand.
"$gprof_mt" --help >help || fail "--help: exit status $?"
for command in $(sed -nE 's/^  ([a-z]+) .*/\1/p' help) --help --version; do
	arguments=$command
	[ "${command#-}" = "$command" ] && arguments="$command --help"
	"$gprof_mt" $arguments >out 2>err || fail "$arguments: exit status $?"
	[ -s out ] && [ ! -s err ] || fail "$arguments: $(cat out err)"
	"$gprof_mt" $arguments >/dev/full 2>err
	[ $? = 1 ] || fail "$arguments: expected status 1 if the output cannot be written"
	grep -q 'standard output: No space' err || fail "$arguments: $(cat err)"
done
[ "$(grep -cE '^  [a-z]+ ' help)" -ge 5 ] || fail "--help names no subcommands: $(cat help)"
