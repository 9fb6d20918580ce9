#!/bin/bash
# SPDX-License-Identifier: MIT
# Commands that read a capture show their progress if stderr is a terminal, in one line that they remove before
# they print anything; nothing otherwise, with -q, or with TERM=dumb.  stdout is the same in all cases.
. "$GM_TOP/tests/lib.sh"
build record/steady_waits
export GPROF_MT_PROGRESS_MS=1 TERM=xterm

pairs=100000
! with_sanitizers || pairs=10000
"$gprof_mt" record -q --profile applic-only --set sync.mode=all ./steady_waits $pairs || fail "record"


# shown COMMAND...: lines with percentages, which grow unless two captures are read, the last thing being that the
# line is erased
shown()
{
	python3 "$GM_TOP/tests/report/programs/on_terminal.py" "$gprof_mt" "$@" >terminal || fail "$*: $(cat -v terminal)"
	python3 - "$1" <<-'END' || fail "$*: $(cat -v terminal | tail -c 300)"
	import re, sys
	text = open("terminal", newline="").read()
	assert text.endswith("\r\x1b[K"), "not erased"
	assert "\n" not in text, "more than a line"
	assert text.count("\r\x1b[K") == 1, "erased more than once"
	lines = text[: -len("\r\x1b[K")].split("\r")[1:]
	form = r"gprof-mt: (opening the capture|preparing the output|reading (\d+) %(, (\d+ s|\d+:\d\d min) left)?)\x1b\[K"
	assert all(re.fullmatch(form, line) for line in lines), lines
	shares = [int(share) for share in re.findall(r"reading (\d+) %", text)]
	assert len(set(shares)) > 3, shares
	assert shares == sorted(shares) or sys.argv[1] == "diff", shares
	END
	"$gprof_mt" "$@" >plain 2>none || fail "$*: exit status without a terminal"
	[ ! -s none ] || fail "$*: printed without a terminal: $(cat none)"
	cmp -s plain out || fail "$*: another output with progress"
}

shown report
shown report locks --format json
shown history --order=time
shown graph --kind wait --format json
shown export --format pprof -o -
shown diff gprof-mt.data gprof-mt.data locks

for case in 'xterm -q' 'dumb'; do
	read -r terminal quiet <<<"$case"
	TERM=$terminal python3 "$GM_TOP/tests/report/programs/on_terminal.py" "$gprof_mt" report $quiet >terminal || fail "$case"
	[ ! -s terminal ] || fail "$case: $(cat -v terminal)"
	[ -s out ] || fail "$case: no report"
done

# Damage is printed after the line was erased.
stream=$(ls -S gprof-mt.data/[0-9]*/user/stream_* | head -1)
truncate -s -100000 "$stream"
python3 "$GM_TOP/tests/report/programs/on_terminal.py" "$gprof_mt" report >terminal && fail "damage was not noticed"
grep -qP '\r\x1b\[Kgprof-mt: .*stream_' terminal || fail "$(cat -v terminal | tail -c 500)"
